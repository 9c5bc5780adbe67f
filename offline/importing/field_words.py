"""What fields of tables and JSON are called, in lower case and without marks, the likeliest first."""

__all__ = ["SPEAKERS", "TEXTS", "TIMES"]

SPEAKERS = tuple(
    """speaker speakername sendername authorname fromname speakerlabel speakerid name participant participantrole
    author sender from who role user username channel speakertag sprecher sprecherin talare locuteur
    hablante orador falante spreker спикер 发言人 说话人 話者""".split()
)
"""Names of a field that says who speaks."""
TEXTS = tuple(
    """utterance text content message transcript transcription value said body speech sentence display line caption
    parts response reply answer äußerung aussage beitrag yttrande texte texto testo tekst текст 内容 文本
    発言""".split()
)
"""Names of a field that holds what is said."""
TIMES = tuple(
    """timestamp time timestampms timespan start starttime startsec starts startms startmillis begin
    beginoffsetmillis offset offsetinseconds ts createdat createtime date timecode in zeit tid temps tiempo
    hora tempo tijd время 时间 時間""".split()
)
"""Names of a field that says when."""

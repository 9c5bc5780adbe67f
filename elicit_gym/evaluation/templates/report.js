unpack().then(({scenarios, episodes}) => {
  const uniq = key => [...new Set(episodes.map(key))];
  options($("f-policy"), [["", "all"], ...uniq(e => e.p).map(p => [p, p])]);
  options($("f-scenario"), [["", "all"], ...uniq(e => e.s).map(s => [s, s + " · " + (scenarios[s] ? scenarios[s].persona : "")])]);
  const rewards = uniq(e => e.r).sort((a, b) => a - b).map(r => [r, String(Math.round(r * 100) / 100)]);
  options($("f-min"), rewards); options($("f-max"), rewards); $("f-max").selectedIndex = rewards.length - 1;
  const list = $("list"), LIMIT = 400;
  function show(e, button) {
    for (const b of list.children) b.setAttribute("aria-current", b === button);
    const root = $("episode"); root.replaceChildren();
    const chat = add(root, "div"), side = add(root, "div", undefined, "side"), s = scenarios[e.s], done = new Set();
    if (s) add(chat, "div", s.opening, "bubble user");
    for (const [action, reply, newly, unscored, flags, judged] of e.t) {
      const of = seat => flags.filter(f => f.startsWith(seat + ":")).map(f => f.slice(seat.length + 1).replaceAll("_", " ").replaceAll(":", ": "));
      const flag = seat => { if (of(seat).length) add(chat, "div", of(seat).join(" · "), "flags " + seat); };
      const question = i => s ? s.checklist[i] : "item " + (i + 1);
      const written = (i, parent) => { for (const [item, , replies, reason] of judged) if (item === i) {
        const box = add(parent, "details", undefined, "written"); add(box, "summary", "the judge on this" + (reason ? ": " + reason : ""));
        replies.forEach((text, k) => { if (replies.length > 1) add(box, "b", k === replies.length - 1 ? "the reply that counts" : "asked again after"); add(box, "pre", text); });
      } };
      add(chat, "div", action, "bubble assistant"); flag("policy");
      for (const i of newly) { done.add(i); written(i, add(chat, "div", "✓ " + question(i), "tick")); }
      for (const i of unscored) written(i, add(chat, "div", "? unscored: " + question(i), "tick unscored"));
      const not = judged.filter(([i]) => !newly.includes(i) && !unscored.includes(i));
      if (not.length) {
        const box = add(chat, "details", undefined, "not"); add(box, "summary", "not met: " + not.length);
        for (const [i] of not) written(i, add(box, "div", question(i), "tick not"));
      }
      flag("judge");
      if (reply !== null) { add(chat, "div", reply, "bubble user"); flag("user_simulator"); }
    }
    if (e.f) add(chat, "div", "Failed. " + e.f, "warn");
    add(side, "h3", e.p + " · return " + Math.round(e.r * 100) / 100 + (e.ok ? " · success" : e.left ? " · left by the user" : ""));
    if (!s) return;
    add(side, "h3", "Checklist"); const ul = add(side, "ul");
    s.checklist.forEach((q, i) => add(ul, "li", q, done.has(i) ? "done" : ""));
    add(side, "h3", "Hidden context");
    add(side, "p", s.persona + ". Goal: " + s.goal + ". Obstacle: " + s.obstacle + ".");
    const cs = add(side, "ul"); s.constraints.forEach(c => add(cs, "li", c));
  }
  function refresh() {
    const p = $("f-policy").value, s = $("f-scenario").value, lo = +$("f-min").value, hi = +$("f-max").value, text = $("f-text").value.toLowerCase();
    const found = episodes.filter(e => (!p || e.p === p) && (!s || e.s === s) && e.r >= lo && e.r <= hi && (!text || e.t.some(t => t[0].toLowerCase().includes(text) || (t[1] || "").toLowerCase().includes(text))));
    $("count").textContent = found.length + " of " + episodes.length + (found.length > LIMIT ? ", the first " + LIMIT + " listed" : "");
    list.replaceChildren(); $("episode").replaceChildren();
    found.slice(0, LIMIT).forEach((e, i) => {
      const b = add(list, "button"); add(b, "b", e.f ? "failed" : String(Math.round(e.r * 100) / 100)); add(b, "div", e.p + (e.n ? " · repeat " + (e.n + 1) : ""));
      add(b, "span", scenarios[e.s] ? e.s + " · " + scenarios[e.s].persona : e.s);
      b.addEventListener("click", () => show(e, b)); if (i === 0) show(e, b);
    });
  }
  for (const id of ["f-policy", "f-scenario", "f-min", "f-max"]) $(id).addEventListener("change", refresh);
  $("f-text").addEventListener("input", refresh);
  refresh(); document.body.dataset.ready = "true";
});

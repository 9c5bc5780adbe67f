unpack().then(({windows, colours}) => {
  options($("f-domain"), [["", "all"], ...[...new Set(windows.map(w => w.domain))].map(d => [d, d.replaceAll("_", " ")])]);
  const list = $("list"), LIMIT = 400;
  for (const w of windows) w.all = [...w.context.map(m => m[1]), ...Object.values(w.said)].join("\n").toLowerCase();
  function show(w, button) {
    for (const b of list.children) b.setAttribute("aria-current", b === button);
    const root = $("window"); root.replaceChildren();
    for (const [role, text] of w.context) add(root, "div", text, role === "system" ? "system" : "bubble " + role);
    add(root, "h3", "What each said next, and the human's utterance in nats per token");
    for (const [name, text] of Object.entries(w.said)) {
      const row = add(root, "div", undefined, "said"), label = add(row, "div");
      add(label, "span", undefined, "dot").style.background = colours[name]; add(label, "span", name);
      add(row, "div", text === null ? "Failed. " + w.failed[name] : text, text === null ? "warn" : undefined); add(row, "div", name in w.nll_per_token ? w.nll_per_token[name].toFixed(2) : "");
    }
  }
  function refresh() {
    const domain = $("f-domain").value, text = $("f-text").value.toLowerCase();
    const found = windows.filter(w => (!domain || w.domain === domain) && (!text || w.all.includes(text)));
    $("count").textContent = found.length + " of " + windows.length + (found.length > LIMIT ? ", the first " + LIMIT + " listed" : "");
    list.replaceChildren(); $("window").replaceChildren();
    found.slice(0, LIMIT).forEach((w, i) => {
      const b = add(list, "button"); add(b, "div", w.block_id); add(b, "span", w.said.real);
      b.addEventListener("click", () => show(w, b)); if (i === 0) show(w, b);
    });
  }
  $("f-domain").addEventListener("change", refresh); $("f-text").addEventListener("input", refresh);
  refresh(); document.body.dataset.ready = "true";
});

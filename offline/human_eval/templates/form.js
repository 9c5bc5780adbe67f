unpack().then(({batch, tasks, scales}) => {
  const key = "elicit-gym-human-eval-" + batch;
  let saved; try { saved = parse(localStorage.getItem(key)) || {}; } catch { saved = {}; }
  saved = Object.assign({name: "", at: 0, answers: Object.create(null), seconds: Object.create(null)}, saved);
  let since = Date.now();
  const keep = () => { try { localStorage.setItem(key, JSON.stringify(saved)); } catch { $("state").textContent = "This browser keeps nothing: download before you close."; } };
  const answers = task => saved.answers[task.id] || (saved.answers[task.id] = Object.create(null));
  const names = task => task.responses.flatMap((_, i) => scales.map(s => "r" + (i + 1) + "_" + s.key));
  const complete = task => names(task).every(n => answers(task)[n]);
  function clock() { const task = tasks[saved.at]; if (task) saved.seconds[task.id] = (saved.seconds[task.id] || 0) + Math.min(600, (Date.now() - since) / 1000); since = Date.now(); }
  function show() {
    const root = $("task"), task = tasks[saved.at], done = tasks.filter(complete).length;
    $("bar").style.width = 100 * done / tasks.length + "%"; $("foot").hidden = false; $("intro").hidden = true;
    root.hidden = !task; $("done").hidden = Boolean(task); $("next").hidden = !task; $("back").disabled = saved.at === 0;
    $("state").textContent = task ? (saved.at + 1) + " of " + tasks.length : done + " of " + tasks.length + " complete";
    root.replaceChildren(); since = Date.now(); if (!task) return;
    add(root, "div", "Setting: " + task.setting, "setting");
    for (const [role, text] of task.context) { add(root, "div", role === "user" ? "Interviewee" : "Interviewer", role === "user" ? "who" : "who right"); add(root, "div", text, "bubble " + (role === "user" ? "user" : "assistant")); }
    task.responses.forEach((text, i) => {
      const box = add(root, "section", undefined, "response"); add(box, "b", "Proposal " + (i + 1)); add(box, "p", text);
      for (const scale of scales) {
        const name = "r" + (i + 1) + "_" + scale.key, set = add(box, "fieldset"); set.dataset.name = name;
        const legend = add(set, "legend", scale.name); add(legend, "small", scale.question);
        const points = add(set, "div", undefined, "points");
        for (let value = 1; value <= 5; value++) {
          const label = add(points, "label"), input = add(label, "input"); add(label, "span", String(value));
          input.type = "radio"; input.name = name; input.value = value; input.checked = answers(task)[name] === value;
          label.title = {1: scale.low, 3: scale.middle, 5: scale.high}[value] || "";
          input.addEventListener("change", () => { answers(task)[name] = value; set.classList.remove("missing"); keep(); });
        }
      }
    });
    window.scrollTo(0, 0);
  }
  function move(step) { clock(); saved.at = Math.max(0, Math.min(tasks.length, saved.at + step)); keep(); show(); }
  $("name").value = saved.name;
  $("start").addEventListener("click", () => { const name = $("name").value.trim(); if (!name) { $("name").focus(); return; } saved.name = name; keep(); show(); });
  $("back").addEventListener("click", () => move(-1));
  $("next").addEventListener("click", () => {
    const missing = names(tasks[saved.at]).filter(n => !answers(tasks[saved.at])[n]);
    document.querySelectorAll("fieldset").forEach(f => f.classList.toggle("missing", missing.includes(f.dataset.name)));
    if (missing.length) { document.querySelector("fieldset.missing").scrollIntoView({block: "center"}); $("state").textContent = missing.length + " ratings missing"; return; }
    move(1);
  });
  $("save").addEventListener("click", () => {
    clock(); keep();
    // A cell that begins like a formula would be one in a spreadsheet.
    const quote = v => '"' + String(v).replace(/^[=+\-@\t\r]/, "'$&").replaceAll('"', '""') + '"', done = tasks.filter(complete);
    const rows = [["WorkerId", "WorkTimeInSeconds", "Input.task_id", ...names(tasks[0]).map(n => "Answer." + n)]];
    for (const task of done) rows.push([saved.name, Math.round(saved.seconds[task.id] || 0), task.id, ...names(task).map(n => answers(task)[n])]);
    const link = document.createElement("a");
    link.href = URL.createObjectURL(new Blob([rows.map(r => r.map(quote).join(",")).join("\r\n") + "\r\n"], {type: "text/csv"}));
    link.download = "answers-" + batch + "-" + saved.name.replace(/[^\w-]+/g, "_") + ".csv"; link.click();
    $("state").textContent = done.length + " of " + tasks.length + " tasks in the file";
  });
  document.body.dataset.ready = "true";
});

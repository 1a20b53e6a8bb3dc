// The playground: Ctrl+Enter runs, what was asked is there again after a correction, and a
// model's reply appears as it is written. Without it the same forms work, page by page.
"use strict";

(() => {
  // This file runs again with each visit of the page; what listens does so once.
  if (window.mioPlayground) return window.mioPlayground();

  const play = () => document.getElementById("play");
  const shown = (id, text) => {
    const at = document.getElementById(id);
    at.hidden = !text;
    at.textContent = text;
    return at;
  };
  let reading = null; // the reply that is being read
  let again = false; // the question is one of before

  // What was asked stays with this tab, so that it runs again after a correction elsewhere.
  function keep(form) {
    const fields = [...new FormData(form)].filter(([name]) => name !== "csrfmiddlewaretoken");
    sessionStorage.setItem(play().dataset.keep, JSON.stringify(fields));
  }

  function restore() {
    const form = document.getElementById("ask");
    if (!form || !("fresh" in play().dataset)) return;
    const kept = JSON.parse(sessionStorage.getItem(play().dataset.keep) || "null");
    if (!kept) return;
    for (const at of form.elements) {
      const values = kept.filter(([name]) => name === at.name).map(([, value]) => value);
      if (at.type === "checkbox") at.checked = values.includes(at.value);
      else if (at.type === "radio") at.checked = values.includes(at.value) || at.checked;
      else if (values.length) at.value = values[0];
    }
    again = true;
    // Until htmx knows the form, sending it would load the whole page, and lose what a toast says.
    const run = () => {
      if (!form.isConnected) return;
      window.htmx?.process(form);
      form.requestSubmit();
    };
    if (document.readyState === "complete") setTimeout(run);
    else addEventListener("load", () => setTimeout(run), { once: true });
  }

  document.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey) && event.target.matches("[data-send]")) {
      event.preventDefault();
      event.target.form.requestSubmit();
    }
  });

  document.addEventListener("submit", (event) => {
    if (event.target.matches("#ask, [data-ask]")) {
      reading?.abort();
      keep(event.target);
    } else if (event.target.matches("[data-reply]")) {
      event.preventDefault();
      ask(event.target);
    }
  });

  document.addEventListener("click", (event) => {
    if (event.target.closest("[data-forget]")) sessionStorage.removeItem(play().dataset.keep);
    if (event.target.closest("[data-stop]")) reading?.abort();
  });

  document.addEventListener("htmx:afterSettle", (event) => {
    if (event.target.id !== "play") return;
    const wrong = document.querySelector("#play [aria-invalid]");
    const form = document.getElementById("ask");
    const title = document.getElementById("answer-title");
    const names = [...document.querySelectorAll(".mentions a.strong")].map((at) => at.textContent);
    document.getElementById("play-said").textContent = title ? `${title.textContent}: ${names.join(", ") || "–"}` : "";
    if (wrong) wrong.focus();
    else if (!again) {
      const answer = document.getElementById("answer");
      answer?.focus({ preventScroll: true });
      // Where it stands below the form, it is brought into sight.
      if (answer && answer.offsetTop > form.offsetTop + form.offsetHeight) answer.scrollIntoView();
    }
    again = false;
  });

  async function ask(form) {
    const [button, stop] = form.querySelectorAll("button");
    const text = shown("reply-text", "");
    shown("reply-problem", "");
    reading?.abort();
    const mine = (reading = new AbortController());
    button.disabled = true;
    stop.hidden = text.hidden = false;
    text.setAttribute("aria-busy", "true");
    try {
      const problem = await read(form, mine.signal, (piece) => text.append(piece));
      if (problem) shown("reply-problem", problem);
    } catch {
      if (!mine.signal.aborted) shown("reply-problem", form.dataset.cut);
    } finally {
      button.disabled = false;
      stop.hidden = true;
      text.hidden = !text.textContent;
      text.removeAttribute("aria-busy");
      if (reading === mine) reading = null;
    }
  }

  // Hands on each piece of the reply; returns what went wrong, or nothing.
  async function read(form, signal, take) {
    const answer = await fetch(form.action, {
      method: "POST", body: new URLSearchParams(new FormData(form)), signal,
      headers: { Accept: "application/x-ndjson" }, redirect: "error",
    });
    if (!answer.ok) return form.dataset.refused;
    const pieces = answer.body.pipeThrough(new TextDecoderStream()).getReader();
    let waiting = "";
    for (;;) {
      const { value, done } = await pieces.read();
      if (done) return form.dataset.cut;
      const lines = (waiting + value).split("\n");
      waiting = lines.pop();
      for (const line of lines) {
        const said = JSON.parse(line);
        if (said.text) take(said.text);
        if (said.error) return said.error;
        if (said.done) return "";
      }
    }
  }

  window.mioPlayground = restore;
  restore();
})();

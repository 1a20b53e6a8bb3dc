// Keyboard, toasts and the help of the dashboard. Everything works without it, by mouse and Tab.
"use strict";

(() => {
  const editable = (at) =>
    at.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(at.tagName) && !/^(checkbox|radio|button|submit)$/.test(at.type);
  const seen = (at) => at.checkVisibility?.() ?? at.getClientRects().length > 0; // not in closed details
  const all = (selector) => [...document.querySelectorAll(selector)].filter(seen);
  let prefix = "";
  let searched = false; // Enter was the last key, in a search field: the first row found is next

  function press(keys) {
    const target = all("[data-key]").find((at) => at.dataset.key.split("|").includes(keys));
    if (!target || target.disabled) return false;
    if (editable(target)) {
      target.focus();
      target.select?.();
    } else {
      target.click();
    }
    return true;
  }

  function rows() { return all("[data-row]"); }

  function go(step) {
    const list = rows();
    if (!list.length) return;
    const at = list.findIndex((row) => row.classList.contains("at") || row.contains(document.activeElement));
    const next = list[Math.min(list.length - 1, Math.max(0, at < 0 ? 0 : at + step))];
    list.forEach((row) => row.classList.toggle("at", row === next));
    const within = [...next.querySelectorAll("a[href], button, summary, input")].filter(seen);
    const first = within.find((one) => one.matches("a[href]")) || within[0] || next;
    first.focus({ preventScroll: true });
    if (first.type === "radio") first.click();
    next.scrollIntoView({ block: "nearest" });
  }

  function help() {
    const box = document.getElementById("help");
    const body = document.getElementById("help-keys");
    const known = new Set();
    body.replaceChildren(document.getElementById("help-common").content.cloneNode(true));
    for (const at of document.querySelectorAll("[data-key]")) {
      if (known.has(at.dataset.key)) continue;
      known.add(at.dataset.key);
      const row = document.createElement("tr");
      const keys = document.createElement("th");
      keys.scope = "row";
      for (const name of at.dataset.key.split(/[ |]/)) {
        const kbd = document.createElement("kbd");
        kbd.textContent = name;
        keys.append(kbd);
      }
      const what = document.createElement("td");
      const copy = at.cloneNode(true);
      copy.querySelectorAll?.("kbd").forEach((kbd) => kbd.remove());
      what.textContent = at.dataset.keyLabel || at.getAttribute("aria-label")
        || (at.labels?.[0]?.textContent ?? copy.textContent).trim() || at.placeholder || "";
      row.append(keys, what);
      body.append(row);
    }
    if (!box.open) box.showModal();
  }

  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
    const at = event.target;
    searched = event.key === "Enter" && at.type === "search";
    if (event.key === "Escape") {
      if (editable(at)) {
        at.blur();
        event.preventDefault(); // a browser would empty a search field
      }
      document.querySelectorAll("details.menu[open]").forEach((menu) => (menu.open = false));
      return;
    }
    if (editable(at) || document.querySelector("dialog[open]")) return;
    const key = event.key.length === 1 ? event.key.toLowerCase() : event.key;
    const keys = prefix ? `${prefix} ${key}` : key;
    prefix = "";
    // A page's own search, else the one over everything.
    if (press(keys) || (keys === "/" && press("g s"))) return event.preventDefault();
    if (key === "j") go(1);
    else if (key === "k") go(-1);
    else if (key === "x") document.querySelector("[data-row].at input[type=checkbox], [data-row]:focus-within input[type=checkbox]")?.click();
    else if (document.querySelector(`[data-key^="${CSS.escape(key)} "]`)) prefix = key;
    else return;
    event.preventDefault();
  });

  document.addEventListener("click", (event) => {
    if (event.target.closest("[data-help]")) help();
    if (event.target.closest("[data-print]")) print();
    event.target.closest("[data-dismiss]")?.closest(".toast")?.remove();
    const pick = event.target.closest("[data-select-all]");
    if (pick) {
      document.querySelectorAll(`input[name="${pick.dataset.selectAll}"]`).forEach((box) => {
        box.checked = pick.checked;
        box.dispatchEvent(new Event("change", { bubbles: true }));
      });
    }
  });

  // A button that copies the text or value of the element it names; where the browser keeps
  // the clipboard to itself (plain HTTP), the text is selected.
  document.addEventListener("click", async (event) => {
    const button = event.target.closest("[data-copy]");
    if (!button) return;
    const from = document.getElementById(button.dataset.copy);
    if (!navigator.clipboard) return from.select ? from.select() : getSelection().selectAllChildren(from);
    await navigator.clipboard.writeText(from.value ?? from.textContent);
    const words = button.textContent;
    button.textContent = button.dataset.copied;
    setTimeout(() => (button.textContent = words), 1500);
  });

  // What is done with chosen rows waits until as many are chosen as it takes: one or data-needs, at most data-most.
  function countChosen() {
    const forms = [...document.forms].filter((form) => form.querySelector("[data-row] :is([type=checkbox], [type=radio][required])"));
    for (const form of forms) {
      const chosen = form.querySelectorAll("[data-row] :checked").length;
      form.querySelectorAll("[data-chosen]").forEach((at) => (at.textContent = chosen));
      form.querySelectorAll("[data-until]").forEach((at) => (at.hidden = chosen >= (at.dataset.needs || 1)));
      for (const at of form.elements) {
        if (at.type === "submit" && !at.formNoValidate) at.disabled = chosen < (at.dataset.needs || 1) || chosen > (at.dataset.most || Infinity);
      }
    }
  }
  countChosen();
  for (const name of ["change", "htmx:afterSettle", "htmx:historyRestore", "pageshow"]) addEventListener(name, countChosen);

  // A form marked so sends itself when a choice is made.
  document.addEventListener("change", (event) => {
    event.target.closest("form[data-auto]")?.requestSubmit();
  });

  // A live list holds still while the keyboard is in it.
  document.addEventListener("htmx:beforeRequest", (event) => {
    if (event.target.id === "live" && event.target.contains(document.activeElement)) event.preventDefault();
  });

  // What was typed is there again where signing in, or another language, came between.
  const KEPT = "mio:typed";
  const fields = () => [...document.querySelectorAll("main form[method=post] [name]")]
    .filter((at) => !/^(hidden|password|file|submit|button)$/.test(at.type));
  const stateOf = (at) => (/^(checkbox|radio)$/.test(at.type) ? at.checked : at.value);
  const page = () => location.pathname + location.search;
  const atDoor = () => document.querySelector("main.door");

  document.addEventListener("submit", ({ target }) => {
    if (atDoor()) return;
    sessionStorage.removeItem(KEPT);
    if (target.method !== "post" || target.action.endsWith("/logout/")) return;
    const typed = fields().map((at) => [at.name, stateOf(at)]);
    const kept = { page: page(), who: document.body.dataset.operator, typed };
    sessionStorage.setItem(KEPT, JSON.stringify({ ...kept, back: target.action.includes("/i18n/") }));
  }, true);

  function putBack() {
    const kept = JSON.parse(sessionStorage.getItem(KEPT) || "null");
    if (!kept) return;
    if (atDoor()) return sessionStorage.setItem(KEPT, JSON.stringify({ ...kept, back: true }));
    sessionStorage.removeItem(KEPT);
    const here = fields();
    const same = here.length === kept.typed.length && here.every((at, n) => at.name === kept.typed[n][0]);
    if (!kept.back || !same || kept.page !== page() || kept.who !== document.body.dataset.operator) return;
    here.forEach((at, n) => {
      if (stateOf(at) === kept.typed[n][1]) return;
      at[/^(checkbox|radio)$/.test(at.type) ? "checked" : "value"] = kept.typed[n][1];
      const folded = at.closest("details");
      if (folded) folded.open = true;
    });
  }
  putBack();

  // Where no answer comes, what was typed stays, and it is said so until one comes.
  const unreached = () => document.querySelector("[data-unreached]");
  for (const name of ["htmx:sendError", "htmx:timeout"]) {
    document.addEventListener(name, () => {
      if (unreached()) return;
      document.getElementById("toasts").append(document.getElementById("unreached").content.cloneNode(true));
    });
  }
  document.addEventListener("htmx:beforeOnLoad", () => unreached()?.remove());

  // A whole page (to sign in, of an error) is not put into a part of one.
  document.addEventListener("htmx:beforeSwap", (event) => {
    const { target, xhr } = event.detail;
    if (target === document.body || !/^\s*<!doctype/i.test(xhr.responseText)) return;
    event.detail.shouldSwap = false;
    if (xhr.status < 400) location.reload();
  });

  // The tab in hand, and the middle of a drawing, are in sight where all has no room.
  function inSight() {
    for (const at of document.querySelectorAll(".tabs [aria-current]")) {
      at.parentElement.scrollLeft = at.offsetLeft - at.parentElement.offsetLeft - 16;
    }
    for (const at of document.querySelectorAll(".table-wrap:has(> svg)")) {
      at.scrollLeft = (at.scrollWidth - at.clientWidth) / 2;
    }
  }
  inSight();

  // After a navigation one starts at the top and at the content, as with a whole page. After a
  // correction one stays where one was, or is led to the field that is wrong.
  const place = () => {
    const asked = new URLSearchParams(location.search);
    return [location.pathname, asked.get("after"), asked.get("at")].join(" ");
  };
  let here = place();
  let focusAtSwap = document.activeElement;
  document.addEventListener("htmx:afterSwap", () => { focusAtSwap = document.activeElement; });
  document.addEventListener("htmx:afterSettle", (event) => {
    if (searched) {
      document.activeElement.blur();
      go(1);
    }
    if (searched || event.target !== document.body) return;
    putBack();
    const moved = place() !== here;
    here = place();
    inSight();
    const wrong = document.querySelector("main [aria-invalid='true']");
    if (wrong) return wrong.focus();
    if (moved) scrollTo(0, 0);
    if (document.activeElement !== focusAtSwap) return; // somebody already types into a field
    (document.querySelector("[autofocus]") || document.getElementById("main"))?.focus({ preventScroll: true });
  });
  const depths = new Map(); // how far down one was, by address, for the way back
  document.addEventListener("htmx:beforeRequest", () => depths.set(location.href, scrollY));
  document.addEventListener("htmx:historyRestore", () => {
    here = place();
    inSight();
    scrollTo(0, depths.get(location.href) || 0);
  });
})();

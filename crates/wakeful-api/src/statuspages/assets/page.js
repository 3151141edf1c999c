// Enhances a status page; nothing on the page depends on it.
(() => {
  "use strict";
  const body = document.body;
  const language = document.documentElement.lang;
  const main = () => document.getElementById("main");
  let revision = body.dataset.revision;

  // Times in the time zone of the visitor, with the original time on hover.
  const localize = () => {
    const format = new Intl.DateTimeFormat(language + "-u-nu-latn", {
      dateStyle: "medium", timeStyle: "short",
    });
    for (const time of document.querySelectorAll("time[datetime]:not([title])")) {
      time.title = time.textContent;
      time.textContent = format.format(new Date(time.dateTime));
    }
  };

  // A filter for long pages.
  let wanted = "";
  const apply = () => {
    const words = wanted.toLocaleLowerCase(language);
    for (const item of document.querySelectorAll(".components > li")) {
      const name = item.querySelector(".name").textContent.toLocaleLowerCase(language);
      item.hidden = !name.includes(words);
    }
    for (const section of document.querySelectorAll(".section")) {
      section.hidden = !section.querySelector(".components > li:not([hidden])");
      if (words && section.open === false) section.open = true;
    }
  };
  const filter = () => {
    const first = document.querySelector(".section");
    if (!first || document.querySelectorAll(".components > li").length <= 20) return;
    const label = document.createElement("label");
    const input = document.createElement("input");
    label.className = "filter";
    input.type = "search";
    input.id = "filter";
    input.value = wanted;
    input.addEventListener("input", () => { wanted = input.value; apply(); });
    label.append(body.dataset.filter + " ", input);
    first.before(label);
    if (wanted) apply();
  };

  // The details of a day under the pointer, which are read when they are first needed.
  let days;
  let words = {};
  const tip = document.createElement("div");
  tip.className = "tip";
  tip.setAttribute("aria-hidden", "true");
  const load = async () => {
    days = {};
    const address = body.dataset.live.replace(/live\.json$/, "index.json");
    const response = await fetch(address + "?lang=" + language);
    if (!response.ok) return;
    const page = await response.json();
    words = page.colors;
    for (const section of page.sections) {
      for (const one of section.components) days["c-" + one.id] = one.days;
    }
  };
  document.addEventListener("pointermove", (event) => {
    const bars = event.target.closest?.(".bars");
    if (!bars) return tip.remove();
    if (!days) load().catch(() => {});
    const all = days?.[bars.closest("li")?.id];
    if (!all?.length) return;
    const box = bars.getBoundingClientRect();
    let part = (event.clientX - box.left) / box.width;
    if (document.documentElement.dir === "rtl") part = 1 - part;
    const day = all[Math.min(all.length - 1, Math.max(0, Math.floor(part * all.length)))];
    const date = new Intl.DateTimeFormat(language + "-u-nu-latn", { dateStyle: "medium", timeZone: "UTC" });
    const minutes = day.down ? ", " + Math.ceil(day.down / 60) + " min" : "";
    tip.textContent = date.format(new Date(day.date + "T00:00:00Z")) + ": " + words[day.color] + minutes;
    tip.style.left = Math.max(0, Math.min(event.pageX, innerWidth - 180)) + "px";
    tip.style.top = event.pageY + 16 + "px";
    body.append(tip);
  });

  // Live updates: the page is replaced when its revision has changed.
  const replace = async () => {
    const response = await fetch(location.href, { headers: { accept: "text/html" } });
    if (!response.ok) return;
    const next = new DOMParser().parseFromString(await response.text(), "text/html");
    const fresh = next.getElementById("main");
    if (!fresh) return;
    const closed = new Map();
    for (const one of document.querySelectorAll("details[id]")) closed.set(one.id, one.open);
    const active = document.activeElement;
    const focused = main().contains(active) && (active.id || active.getAttribute("href"));
    for (const one of fresh.querySelectorAll("details[id]")) {
      if (closed.has(one.id)) one.open = closed.get(one.id);
    }
    main().replaceWith(fresh);
    document.title = next.title;
    revision = next.body.dataset.revision;
    days = undefined;
    start();
    if (focused) {
      const again = document.getElementById(focused) ||
        [...fresh.querySelectorAll("a[href]")].find((one) => one.getAttribute("href") === focused);
      again?.focus();
    }
  };
  const INTERVAL = 30000;
  let wait = INTERVAL;
  const poll = async () => {
    if (document.visibilityState === "visible") {
      try {
        const response = await fetch(body.dataset.live + "?lang=" + language);
        if (!response.ok) throw new Error(response.status);
        const live = await response.json();
        wait = INTERVAL;
        if (String(live.revision) !== revision) {
          const before = document.querySelector("h1")?.textContent;
          await replace();
          const after = document.querySelector("h1")?.textContent;
          if (before !== after) {
            document.getElementById("live").textContent =
              body.dataset.changed.replace("{status}", after);
          }
        }
      } catch {
        wait = Math.min(wait * 2, 300000);
      }
    }
    setTimeout(poll, wait * (0.8 + Math.random() * 0.4));
  };
  const start = () => { localize(); filter(); };
  start();
  if (body.dataset.live) setTimeout(poll, INTERVAL * (0.8 + Math.random() * 0.4));
})();

// Search over the sections of all pages: every word must occur, headings count more. `sections` comes from sections.js.
"use strict";
{
  const input = document.querySelector("header input");
  const found = document.querySelector("#found");
  const content = document.querySelector("article");
  const most = 30;

  const score = (section, words) => {
    const heading = section.heading.toLowerCase();
    const text = section.text.toLowerCase();
    let sum = 0;
    for (const word of words) {
      const inHeading = heading.includes(word);
      const at = text.indexOf(word);
      if (!inHeading && at < 0) return 0;
      sum += (inHeading ? 10 : 0) + (at >= 0 ? 1 : 0);
    }
    return sum;
  };

  const excerpt = (section, word) => {
    const at = Math.max(0, section.text.toLowerCase().indexOf(word) - 60);
    return (at > 0 ? "…" : "") + section.text.slice(at, at + 160);
  };

  const show = () => {
    const words = input.value.toLowerCase().split(/\s+/).filter((word) => word.length > 1);
    found.replaceChildren();
    found.classList.toggle("open", words.length > 0);
    content.hidden = words.length > 0;
    if (words.length === 0) return;
    const hits = sections.map((section) => [score(section, words), section]).filter(([points]) => points > 0);
    hits.sort((a, b) => b[0] - a[0]);
    const title = document.createElement("h1");
    title.textContent = hits.length === 0 ? "Nothing found" : `${hits.length} section${hits.length === 1 ? "" : "s"}`;
    found.append(title);
    for (const [, section] of hits.slice(0, most)) {
      const link = document.createElement("a");
      const about = document.createElement("small");
      link.href = section.place;
      link.textContent = section.page === section.heading ? section.page : `${section.page}: ${section.heading}`;
      about.textContent = excerpt(section, words[0]);
      link.append(about);
      link.addEventListener("click", () => {
        input.value = "";
        show();
      });
      found.append(link);
    }
  };

  input.addEventListener("input", show);
  document.addEventListener("keydown", (event) => {
    if (event.key === "/" && document.activeElement !== input) {
      event.preventDefault();
      input.focus();
    } else if (event.key === "Escape") {
      input.value = "";
      show();
    }
  });
  show();
}

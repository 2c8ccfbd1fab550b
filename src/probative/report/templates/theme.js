"use strict";
(() => {
  const button = document.getElementById("theme");
  const order = ["system", "light", "dark"];
  let place = 0;
  button.hidden = false;
  button.addEventListener("click", () => {
    place = (place + 1) % order.length;
    const theme = order[place];
    if (theme === "system") delete document.documentElement.dataset.theme;
    else document.documentElement.dataset.theme = theme;
    button.textContent = `Theme: ${theme}`;
  });
})();

'use strict';
(() => {
  const store = document.getElementById('copies');
  const texts = store ? JSON.parse(store.textContent) : {};

  async function copy(text) {
    try {
      await navigator.clipboard.writeText(text);
      return true;
    } catch {
      // Older browsers, and pages that are no secure context.
      const field = document.createElement('textarea');
      field.value = text;
      document.body.append(field);
      field.select();
      const done = document.execCommand('copy');
      field.remove();
      return done;
    }
  }

  const told = document.querySelector('.copied');
  for (const button of document.querySelectorAll('[data-copy]')) {
    button.addEventListener('click', async () => {
      const done = await copy(texts[button.dataset.copy]);
      button.focus();
      told.textContent = done ? 'Copied.' : 'The browser does not let this page copy.';
      setTimeout(() => { told.textContent = ''; }, 2500);
    });
  }

  // What belongs together is shown together.
  const links = [...document.querySelectorAll('[data-link]')];
  for (const link of links) {
    const mark = (on) => {
      for (const other of links) {
        if (other.dataset.link === link.dataset.link) other.classList.toggle('linked', on);
      }
    };
    for (const event of ['mouseenter', 'focusin']) link.addEventListener(event, () => mark(true));
    for (const event of ['mouseleave', 'focusout']) link.addEventListener(event, () => mark(false));
  }
})();

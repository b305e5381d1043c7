'use strict';
(() => {
  const data = JSON.parse(document.getElementById('data').textContent);
  const main = document.getElementById('document');
  const panel = document.getElementById('panel');
  const details = document.getElementById('all');
  const hint = panel.textContent;
  // Rows of long tables are left out: some units may not be there.
  const units = Array.from({ length: data.units }, (_, index) => document.getElementById('unit-' + (index + 1)));
  const bars = [...document.querySelectorAll('.bar')];
  const buttons = [...document.querySelectorAll('.step')];
  const calm = window.matchMedia('(prefers-reduced-motion: reduce)').matches;
  const ROWS = 200;
  let pinned = null;
  let shown = null;

  const percent = (p) => {
    const value = 100 * p;
    if (value > 0 && value < 0.1) return '<0.1\u00a0%';
    return (value < 10 ? value.toFixed(1) : value.toFixed(0)) + '\u00a0%';
  };
  const unitName = (index) => (units[index] && units[index].dataset.name) || String(index + 1);
  const unitText = (index) => (units[index] ? units[index].dataset.text : '');

  function sentence(step) {
    const parts = ['Step ' + (step + 1) + ': '];
    const { unit, label, p } = data.steps[step];
    parts.push(unit === null ? label : label + ' ' + unitName(unit));
    if (p !== null) parts.push(', probability ' + percent(p));
    const probabilities = data.steps[step].probabilities;
    if (probabilities.length) {
      const others = probabilities
        .map((value, index) => [value, index])
        .filter(([, index]) => index !== unit)
        .sort((a, b) => b[0] - a[0])
        .slice(0, 3)
        .map(([value, index]) => unitName(index) + ' (' + percent(value) + ')');
      if (others.length) parts.push('. Next best: ' + others.join(', '));
      if (unit !== null && data.steps[step].stop > 0) {
        parts.push('. Stop: ' + percent(data.steps[step].stop));
      }
    }
    return parts.join('') + '.';
  }

  function clear() {
    if (shown === null) return;
    main.classList.remove('showing');
    for (const item of [...units, ...bars]) {
      if (!item) continue;
      item.style.removeProperty('--p');
      item.classList.remove('now', 'earlier');
    }
    for (const label of main.querySelectorAll('.unit > small')) label.remove();
    for (const button of buttons) button.classList.remove('shown');
  }

  function fillTable(step) {
    const { unit, probabilities } = data.steps[step];
    const order = probabilities.map((_, index) => index);
    order.sort((a, b) => probabilities[b] - probabilities[a] || a - b);
    const cut = order.length > ROWS ? ', the ' + ROWS + ' most probable' : '';
    document.getElementById('caption').textContent = 'Step ' + (step + 1) + cut;
    const rows = order.slice(0, ROWS).map((index) => {
      const row = document.createElement('tr');
      const cells = [index + 1, unitText(index), percent(probabilities[index])];
      cells.forEach((content, column) => {
        const cell = document.createElement('td');
        if (column !== 1) cell.className = 'number';
        const box = document.createElement(index === unit ? 'b' : 'span');
        box.textContent = content;
        cell.append(box);
        row.append(cell);
      });
      return row;
    });
    document.getElementById('rows').replaceChildren(...rows);
  }

  function label(unit, p) {
    const small = document.createElement('small');
    small.textContent = percent(p);
    unit.append(small);
  }

  function show(step) {
    clear();
    shown = step;
    if (step === null) {
      panel.textContent = hint;
      details.hidden = true;
      return;
    }
    const { unit, probabilities } = data.steps[step];
    // No spread: there may be more than a call takes.
    const most = probabilities.reduce((a, b) => Math.max(a, b), Math.max(data.steps[step].stop, 1e-9));
    if (probabilities.length) main.classList.add('showing');
    probabilities.forEach((p, index) => {
      if (!units[index]) return;
      units[index].style.setProperty('--p', (p / most).toFixed(4));
      if (p >= 0.005) label(units[index], p);
    });
    for (const bar of bars) {
      const part = probabilities.slice(Number(bar.dataset.first), Number(bar.dataset.last) + 1);
      if (part.length) bar.style.setProperty('--p', (Math.max(...part) / most).toFixed(4));
    }
    for (const earlier of data.steps.slice(0, step)) {
      if (earlier.unit !== null && units[earlier.unit]) units[earlier.unit].classList.add('earlier');
    }
    if (unit !== null && units[unit]) units[unit].classList.add('now');
    buttons[step].classList.add('shown');
    panel.textContent = sentence(step);
    details.hidden = !probabilities.length;
    if (details.open) fillTable(step);
  }

  function go(index) {
    if (!units[index]) return;
    const behavior = calm ? 'auto' : 'smooth';
    units[index].scrollIntoView({ behavior, block: 'center', inline: 'center' });
  }

  function pin(step) {
    pinned = pinned === step ? null : step;
    buttons.forEach((button, index) => {
      button.setAttribute('aria-pressed', String(index === pinned));
    });
    show(pinned);
    if (pinned !== null && data.steps[pinned].unit !== null) go(data.steps[pinned].unit);
  }

  function watch(element, step) {
    element.addEventListener('mouseenter', () => show(step));
    element.addEventListener('mouseleave', () => show(pinned));
    element.addEventListener('focus', () => show(step));
    element.addEventListener('blur', () => show(pinned));
    element.addEventListener('click', () => pin(step));
  }

  buttons.forEach((button, step) => {
    watch(button, step);
    button.addEventListener('keydown', (event) => {
      const move = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
      if (!move) return;
      event.preventDefault();
      buttons[(step + move + buttons.length) % buttons.length].focus();
    });
  });
  for (const badge of main.querySelectorAll('.badge')) {
    watch(badge, Number(badge.dataset.step));
  }
  for (const bar of bars) {
    bar.addEventListener('click', () => {
      const chosen = data.steps.map(({ unit }) => unit).find((unit) =>
        unit !== null && unit >= Number(bar.dataset.first) && unit <= Number(bar.dataset.last));
      go(chosen ?? Number(bar.dataset.first));
    });
  }
  details.addEventListener('toggle', () => {
    if (details.open && shown !== null) fillTable(shown);
  });
  document.addEventListener('keydown', (event) => {
    if (event.key === 'Escape' && pinned !== null) pin(pinned);
  });
})();

'use strict';
(() => {
  const data = JSON.parse(document.getElementById('data').textContent);
  const main = document.getElementById('document');
  const panel = document.getElementById('panel');
  const details = document.getElementById('all');
  const hint = panel.textContent;
  const units = [...main.querySelectorAll('.unit')];
  const bars = [...document.querySelectorAll('.bar')];
  const buttons = [...document.querySelectorAll('.step')];
  let pinned = null;

  const percent = (p) => {
    const value = 100 * p;
    if (value > 0 && value < 0.1) return '<0.1\u00a0%';
    return (value < 10 ? value.toFixed(1) : value.toFixed(0)) + '\u00a0%';
  };
  const unitText = (index) => units[index].dataset.text;

  function sentence(step) {
    const parts = ['Step ' + (step + 1) + ': '];
    const { unit, label, p } = data.steps[step];
    parts.push(unit === null ? label : label + ' ' + (unit + 1));
    if (p !== null) parts.push(', probability ' + percent(p));
    const probabilities = data.steps[step].probabilities;
    if (probabilities.length) {
      const others = probabilities
        .map((value, index) => [value, index])
        .filter(([, index]) => index !== unit)
        .sort((a, b) => b[0] - a[0])
        .slice(0, 3)
        .map(([value, index]) => (index + 1) + ' (' + percent(value) + ')');
      if (others.length) parts.push('. Next best: ' + others.join(', '));
      if (unit !== null && data.steps[step].stop > 0) {
        parts.push('. Stop: ' + percent(data.steps[step].stop));
      }
    }
    return parts.join('') + '.';
  }

  function clear() {
    main.classList.remove('showing');
    for (const item of [...units, ...bars]) {
      item.style.removeProperty('--p');
      item.classList.remove('now', 'earlier');
    }
    for (const label of main.querySelectorAll('.unit > small')) label.remove();
    for (const button of buttons) button.classList.remove('shown');
  }

  function fillTable(step) {
    const { unit, probabilities } = data.steps[step];
    details.hidden = !probabilities.length;
    document.getElementById('caption').textContent = 'Step ' + (step + 1);
    const order = probabilities.map((_, index) => index);
    order.sort((a, b) => probabilities[b] - probabilities[a] || a - b);
    const rows = order.map((index) => {
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

  function show(step) {
    clear();
    if (step === null) {
      panel.textContent = hint;
      details.hidden = true;
      return;
    }
    const { unit, probabilities } = data.steps[step];
    const most = Math.max(...probabilities, data.steps[step].stop, 1e-9);
    if (probabilities.length) main.classList.add('showing');
    probabilities.forEach((p, index) => {
      for (const item of [units[index], bars[index]]) {
        item.style.setProperty('--p', (p / most).toFixed(4));
      }
      if (p >= 0.005) {
        const label = document.createElement('small');
        label.textContent = percent(p);
        units[index].append(label);
      }
    });
    for (const earlier of data.steps.slice(0, step)) {
      if (earlier.unit !== null) units[earlier.unit].classList.add('earlier');
    }
    if (unit !== null) units[unit].classList.add('now');
    buttons[step].classList.add('shown');
    panel.textContent = sentence(step);
    fillTable(step);
  }

  function pin(step) {
    pinned = pinned === step ? null : step;
    buttons.forEach((button, index) => {
      button.setAttribute('aria-pressed', String(index === pinned));
    });
    show(pinned);
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
  document.addEventListener('keydown', (event) => {
    if (event.key === 'Escape' && pinned !== null) pin(pinned);
  });
})();

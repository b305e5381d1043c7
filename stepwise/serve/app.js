'use strict';
(() => {
  const $ = (id) => document.getElementById(id);
  const KEPT = 20;
  const SHOWN = 60;
  const MOST_KEPT = 200000;
  const SAMPLE_TABLE = 'region,sales Q1,sales Q2\nNorth,812,846\nSouth,640,612\nEast,498,521\nWest,906,1225\n';
  const TABLES = ['csv', 'tsv', 'json', 'jsonl'];
  const BINARY = ['pdf', 'docx', 'eml', 'html', 'htm', 'md', 'markdown', 'story'];
  const WORDS = { summarize: 'Summarise', report: 'Write', plan: 'Plan' };
  let models = { texts: [], tables: [] };
  let attached = null;
  let tableName = 'table.csv';
  let running = null;
  let answer = null;

  // The token comes behind the sign, which browsers keep to themselves.
  const given = new URLSearchParams(location.hash.slice(1)).get('token');
  if (given) {
    sessionStorage.setItem('token', given);
    window.history.replaceState(null, '', location.pathname);
  }
  const token = sessionStorage.getItem('token');
  const headers = (more) => (token ? { ...more, Authorization: 'Bearer ' + token } : more);

  const what = () => document.querySelector('[name=what]:checked').value;

  function say(text, wrong = false) {
    $('status').textContent = text;
    $('status').classList.toggle('wrong', wrong);
  }

  function showWhat() {
    const kind = what();
    const isText = kind === 'summarize';
    const list = isText ? models.texts : models.tables;
    const old = $('model').value;
    $('model').replaceChildren(...list.map(({ name, description }) => {
      const option = document.createElement('option');
      option.value = name;
      option.textContent = name;
      option.title = description;
      return option;
    }));
    if (list.some(({ name }) => name === old)) $('model').value = old;
    $('text-label').textContent = isText
      ? 'Text: paste it, or drop a file'
      : 'Table: paste it as CSV or JSON, or drop a file';
    for (const option of $('length').options) {
      option.hidden = option.disabled = !isText && !['', kind === 'report' ? 'words' : ''].includes(option.value);
    }
    if ($('length').selectedOptions[0].disabled) $('length').value = '';
    $('go').textContent = WORDS[kind];
    showLength();
    showSize();
  }

  function showLength() {
    const unit = $('length').value;
    $('number-label').hidden = !['sentences', 'words'].includes(unit);
    const number = Number($('number').value);
    if (unit === 'words' && number < 20) $('number').value = '60';
    if (unit === 'sentences' && number > 20) $('number').value = '3';
  }

  function showSize() {
    const words = $('text').value.trim().split(/\s+/).filter(Boolean).length;
    $('size').textContent = words && what() === 'summarize' ? words.toLocaleString('en') + ' words' : '';
  }

  function attach(file) {
    attached = file;
    $('attached').hidden = !file;
    $('text').hidden = Boolean(file);
    if (file) $('attached').firstElementChild.textContent = file.name + ', ' + Math.ceil(file.size / 1024) + ' KB';
  }

  function choose(kind) {
    document.querySelector('[value=' + kind + ']').checked = true;
    showWhat();
  }

  async function take(file) {
    const end = file.name.split('.').pop().toLowerCase();
    if (TABLES.includes(end)) {
      if (what() === 'summarize') choose('report');
      tableName = file.name;
    } else if (what() !== 'summarize') {
      choose('summarize');
    }
    if (BINARY.includes(end)) {
      attach(file);
    } else {
      attach(null);
      $('text').value = await file.text();
    }
    showSize();
    say(file.name + ' is ready.');
  }

  const base64 = (file) => new Promise((resolve, reject) => {
    const reader = new FileReader();
    reader.onload = () => resolve(reader.result.split(',', 2)[1] || '');
    reader.onerror = () => reject(reader.error);
    reader.readAsDataURL(file);
  });

  function isGame(text) {
    try {
      const value = JSON.parse(text);
      const first = Array.isArray(value) ? value[0] : value;
      return first && first.box_score ? first : null;
    } catch {
      return null;
    }
  }

  // Up to a word.
  const shorten = (text) => (text.length > SHOWN ? text.slice(0, SHOWN).replace(/\s\S*$/, '') + '…' : text);

  async function asked() {
    const kind = what();
    const body = { page: true, model: $('model').value };
    const text = $('text').value;
    const about = $('about').value.trim();
    const unit = $('length').value;
    if (kind === 'summarize') {
      if (attached) body.file = { name: attached.name, data: await base64(attached) };
      else body.text = text;
      body.title = attached ? attached.name : shorten(text.trim().split('\n', 1)[0]) || 'Summary';
      if (about) body.about = about;
      if (unit === 'auto') body.sentences = 'auto';
    } else {
      const game = isGame(text);
      if (game) body.game = game;
      else {
        body.text = text;
        const json = /^\s*[[{]/.test(text);
        body.name = json && !tableName.includes('json') ? 'table.json' : tableName;
      }
      if (about) body.about = about.split(/\s*,\s*/);
    }
    if (['sentences', 'words'].includes(unit)) body[unit] = Number($('number').value);
    return body;
  }

  function showStep(step) {
    if (step.number === null) return;
    const item = document.createElement('li');
    item.dir = 'auto';
    item.textContent = step.text;
    const small = document.createElement('small');
    const sure = step.log_prob === null ? '' : ', ' + Math.round(100 * Math.exp(step.log_prob)) + ' %';
    small.textContent = ' sentence ' + step.number + sure;
    item.append(small);
    $('chosen').append(item);
  }

  function showResult(found) {
    answer = found;
    $('live').hidden = true;
    $('result').hidden = false;
    // A frame of its own: the old one may not be drawn again.
    const frame = $('page').cloneNode();
    frame.srcdoc = found.page;
    $('page').replaceWith(frame);
    $('result').scrollIntoView({ block: 'start' });
    $('copy-markdown').hidden = !markdown();
    say('Done.');
  }

  const plain = () => (answer.summary ? answer.summary.join('\n') : answer.text || planText());
  const planText = () => answer.plan
    .map((sentence, number) => (number + 1) + '. ' + sentence.map(([entity, value, type]) => entity + ' ' + type + ' ' + value).join('; '))
    .join('\n');
  const escapeMark = (text) => text.replace(/[\\`*_{}[\]<>#|]/g, '\\$&');
  function markdown() {
    if (answer.sentences && answer.summary) {
      return answer.sentences.map(({ text, number }) => '- ' + escapeMark(text.split(/\s+/).join(' ')) + ' [' + number + ']\n').join('');
    }
    return answer.text ? '# ' + (answer.title || 'Report') + '\n\n' + answer.text + '\n' : planText() + '\n';
  }

  async function wrong(response) {
    let message = response.statusText;
    try {
      message = (await response.json()).error;
    } catch { /* Not of this server. */ }
    return message;
  }

  // One event: its name, and its data.
  function parse(block) {
    const name = /^event: (.*)$/m.exec(block);
    const data = /^data: (.*)$/m.exec(block);
    return name && data ? [name[1], JSON.parse(data[1])] : null;
  }

  async function follow(response) {
    const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
    let left = '';
    let found = null;
    for (;;) {
      const { value, done } = await reader.read();
      if (done) break;
      const blocks = (left + value).split('\n\n');
      left = blocks.pop();
      for (const event of blocks.map(parse)) {
        if (!event) continue;
        const [name, data] = event;
        if (name === 'document') say(data.sentences.toLocaleString('en') + ' sentences are read; choosing.');
        if (name === 'step') showStep(data);
        if (name === 'summary') found = data;
        if (name === 'error') throw new Error(data.error);
      }
    }
    if (!found) throw new Error('the server ended without an answer.');
    return found;
  }

  async function run() {
    const kind = what();
    const body = await asked();
    running = new AbortController();
    const accept = kind === 'summarize' ? 'text/event-stream' : 'application/json';
    const response = await fetch('api/' + kind, {
      method: 'POST',
      headers: headers({ 'Content-Type': 'application/json', Accept: accept }),
      body: JSON.stringify(body),
      signal: running.signal,
    });
    if (!response.ok) throw new Error(await wrong(response));
    const found = kind === 'summarize' ? await follow(response) : await response.json();
    showResult(found);
    remember({ kind, body: { ...body, page: undefined }, said: shorten(plain()) });
  }

  async function start(event) {
    event.preventDefault();
    if (!attached && !$('text').value.trim()) {
      say('There is nothing to read yet.', true);
      $('text').focus();
      return;
    }
    $('chosen').replaceChildren();
    $('live').hidden = what() !== 'summarize';
    $('result').hidden = true;
    $('go').disabled = true;
    $('stop').hidden = false;
    say('Reading.');
    try {
      await run();
    } catch (error) {
      $('live').hidden = true;
      say(error.name === 'AbortError' ? 'Stopped.' : error.message, error.name !== 'AbortError');
    } finally {
      running = null;
      $('go').disabled = false;
      $('stop').hidden = true;
    }
  }

  // History: in this browser alone.
  function past() {
    try {
      return JSON.parse(localStorage.getItem('history')) || [];
    } catch {
      return [];
    }
  }

  function remember(entry) {
    if (JSON.stringify(entry).length > MOST_KEPT) delete entry.body.file;
    const kept = [{ ...entry, when: new Date().toISOString() }, ...past()].slice(0, KEPT);
    while (kept.length) {
      try {
        localStorage.setItem('history', JSON.stringify(kept));
        break;
      } catch {
        kept.pop();
      }
    }
    showHistory();
  }

  function recall({ kind, body }) {
    choose(kind);
    attach(null);
    $('text').value = typeof body.text === 'string' ? body.text : body.game ? JSON.stringify(body.game) : '';
    if (body.name) tableName = body.name;
    $('about').value = Array.isArray(body.about) ? body.about.join(', ') : body.about || '';
    $('length').value = body.words ? 'words' : body.sentences === 'auto' ? 'auto' : body.sentences ? 'sentences' : '';
    if (body.words || Number(body.sentences)) $('number').value = body.words || body.sentences;
    showLength();
    $('model').value = body.model;
    showSize();
    $('text').focus();
  }

  function showHistory() {
    const kept = past();
    $('history').hidden = !kept.length;
    $('past').replaceChildren(...kept.map((entry) => {
      const item = document.createElement('li');
      const button = document.createElement('button');
      button.type = 'button';
      button.className = 'small';
      button.textContent = entry.when.slice(0, 16).replace('T', ' ') + ' · ' + entry.kind + ' · ' + entry.said;
      button.addEventListener('click', () => recall(entry));
      item.append(button);
      return item;
    }));
  }

  async function copy(text) {
    try {
      await navigator.clipboard.writeText(text);
      say('Copied.');
    } catch {
      say('The browser does not let this page copy.', true);
    }
  }

  function save(name, text, type) {
    const link = document.createElement('a');
    link.href = URL.createObjectURL(new Blob([text], { type }));
    link.download = name;
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 1000);
  }

  $('form').addEventListener('submit', start);
  $('form').addEventListener('keydown', (event) => {
    if (event.key === 'Enter' && (event.ctrlKey || event.metaKey) && !running) $('form').requestSubmit();
  });
  $('stop').addEventListener('click', () => running && running.abort());
  $('text').addEventListener('input', showSize);
  $('length').addEventListener('change', showLength);
  $('detach').addEventListener('click', () => attach(null));
  $('file').addEventListener('change', () => {
    if ($('file').files.length) take($('file').files[0]);
    $('file').value = '';
  });
  for (const radio of document.querySelectorAll('[name=what]')) radio.addEventListener('change', showWhat);
  const drop = $('drop');
  drop.addEventListener('dragover', (event) => { event.preventDefault(); drop.classList.add('over'); });
  drop.addEventListener('dragleave', () => drop.classList.remove('over'));
  drop.addEventListener('drop', (event) => {
    event.preventDefault();
    drop.classList.remove('over');
    const { files } = event.dataTransfer;
    if (files.length) take(files[0]);
    else if (event.dataTransfer.getData('text')) { $('text').value = event.dataTransfer.getData('text'); showSize(); }
  });
  $('sample').addEventListener('click', async () => {
    attach(null);
    if (what() === 'summarize') {
      const response = await fetch('sample.txt');
      $('text').value = await response.text();
    } else {
      tableName = 'sales.csv';
      $('text').value = SAMPLE_TABLE;
    }
    showSize();
    say('');
  });
  $('copy-text').addEventListener('click', () => copy(plain()));
  $('copy-markdown').addEventListener('click', () => copy(markdown()));
  $('save-page').addEventListener('click', () => save('stepwise.html', answer.page, 'text/html'));
  $('save-json').addEventListener('click', () => {
    const { page, ...rest } = answer;
    save('stepwise.json', JSON.stringify(rest, null, 2), 'application/json');
  });
  $('forget').addEventListener('click', () => { localStorage.removeItem('history'); showHistory(); });

  async function begin() {
    showHistory();
    const response = await fetch('api/models', { headers: headers({}) });
    if (!response.ok) {
      say(await wrong(response), true);
      return;
    }
    models = await response.json();
    showWhat();
  }
  begin();
})();

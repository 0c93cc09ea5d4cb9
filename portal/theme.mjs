/* global addEventListener, document, localStorage, matchMedia, window */
// Runs before the page is shown. Swagger UI's dark theme depends on the class.
(() => {
  for (const name of ['localStorage', 'sessionStorage']) {
    try {
      window[name].getItem('');
    } catch {
      // The browser blocks site data: the reader's choices last until the page is closed.
      const values = new Map();
      const value = {
        getItem: (key) => values.get(key) ?? null,
        setItem: (key, text) => values.set(key, text),
        removeItem: (key) => values.delete(key),
      };
      Object.defineProperty(window, name, { value });
    }
  }
  const dark = matchMedia('(prefers-color-scheme: dark)');
  const { classList, dataset } = document.documentElement;
  classList.add('scripted');
  const isDark = () => (dataset.theme ?? (dark.matches ? 'dark' : 'light')) === 'dark';
  const apply = () => {
    const chosen = localStorage.getItem('theme');
    if (chosen === null) {
      delete dataset.theme;
    } else {
      dataset.theme = chosen;
    }
    classList.toggle('dark-mode', isDark());
  };
  dark.addEventListener('change', apply);
  apply();
  addEventListener('beforeprint', () => {
    classList.remove('dark-mode');
  });
  addEventListener('afterprint', apply);
  // Otherwise, Swagger UI scrolls to earlier positions, where another operation may be now.
  window.noZensmooth = true;
  document.addEventListener('click', ({ target }) => {
    if (target.closest('.theme')) {
      const theme = isDark() ? 'light' : 'dark';
      const isSystem = (theme === 'dark') === dark.matches;
      if (isSystem) {
        localStorage.removeItem('theme');
      } else {
        localStorage.setItem('theme', theme);
      }
      apply();
    }
  });
})();

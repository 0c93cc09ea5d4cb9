/* global document, localStorage, matchMedia */
// Runs before the page is shown. Swagger UI's dark theme depends on the class.
(() => {
  const dark = matchMedia('(prefers-color-scheme: dark)');
  const { classList, dataset } = document.documentElement;
  const apply = () => {
    dataset.theme = localStorage.getItem('theme') ?? (dark.matches ? 'dark' : 'light');
    classList.toggle('dark-mode', dataset.theme === 'dark');
  };
  dark.addEventListener('change', apply);
  apply();
  document.addEventListener('click', ({ target }) => {
    if (target.closest('.theme')) {
      const theme = dataset.theme === 'dark' ? 'light' : 'dark';
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

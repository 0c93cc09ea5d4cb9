/** The document with what `components` shares put in the place of each reference to it; references to schemas stay. */
function dereference(document) {
  const resolve = (value) => {
    if (typeof value !== 'object' || value === null) {
      return value;
    }
    const [, kind, name] = /^#\/components\/(?!schemas)(\w+)\/(.+)$/.exec(value.$ref ?? '') ?? [];
    if (name !== undefined) {
      return resolve(document.components[kind][name]);
    }
    return Array.isArray(value)
      ? value.map(resolve)
      : Object.fromEntries(Object.entries(value).map(([key, field]) => [key, resolve(field)]));
  };
  return resolve(document);
}

module.exports = { dereference };

/** Replaces each reference in a document by the shared component. References to schemas are kept. */
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

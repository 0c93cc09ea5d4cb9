export default async function globalTeardown(): Promise<void> {
  await Promise.all(globalThis.testDatabases.map((database) => database.remove()));
}

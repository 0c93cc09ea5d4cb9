/** Starts workers that send one request after another until `end` is called. @returns the results, and what ends them */
export function startLoad<T>(workers: number, send: (worker: number, count: number) => Promise<T>) {
  let isOver = false;
  const results: T[] = [];
  const work = async (worker: number) => {
    for (let count = 0; !isOver; count++) {
      results.push(await send(worker, count));
    }
  };
  const all = Promise.all(Array.from({ length: workers }, (_, worker) => work(worker)));
  // The first failure is reported when the load ends.
  all.catch(() => undefined);
  return {
    results,
    end: async () => {
      isOver = true;
      await all;
      return results;
    },
  };
}

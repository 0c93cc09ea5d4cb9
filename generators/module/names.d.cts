interface Names {
  readonly Class: string;
  readonly code: string;
}

export function createNames(name: string): Names;
export function findProblem(
  names: Names,
  project: {
    readonly directories: readonly string[];
    readonly sources: readonly string[];
    readonly examples?: readonly string[];
  },
): string | undefined;

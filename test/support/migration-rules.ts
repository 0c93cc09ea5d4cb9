/** Patterns of statements that a migration of a running service must not contain, by the rule that forbids them. */
const FORBIDDEN: readonly (readonly [rule: string, pattern: RegExp])[] = [
  ['drops or renames what old replicas use', /^DROP (TABLE|VIEW|COLUMN)\b|^(RENAME|SET SCHEMA)\b/],
  ['drops or renames what old replicas use', /^DROP (?!(COLUMN|CONSTRAINT|INDEX|TRIGGER|FUNCTION|NOT NULL|DEFAULT)\b)/],
  ['rewrites the table', /^ALTER (COLUMN )?\S+ (SET DATA )?TYPE\b/],
  ['rejects what old replicas write', /^ALTER (COLUMN )?\S+ (SET NOT NULL|DROP DEFAULT)\b/],
  [
    'rejects what old replicas write',
    /^ADD (COLUMN )?(?!CONSTRAINT|CHECK|FOREIGN|UNIQUE|PRIMARY|EXCLUDE)(?!.*\bDEFAULT\b).*\bNOT NULL\b/,
  ],
  ['reads all rows under a lock', /^ADD (CONSTRAINT \S+ )?(CHECK|FOREIGN KEY)(?!.*\bNOT VALID$)/],
  ['reads all rows under a lock', /^ADD (COLUMN )?(?!CONSTRAINT|CHECK|FOREIGN|UNIQUE|PRIMARY|EXCLUDE).*\bCHECK \(/],
  ['reads all rows under a lock', /^(ADD (CONSTRAINT \S+ )?(UNIQUE|PRIMARY KEY|EXCLUDE)\b(?! USING INDEX))/],
  [
    'reads all rows under a lock',
    /^ADD (COLUMN )?(?!CONSTRAINT|CHECK|FOREIGN|UNIQUE|PRIMARY|EXCLUDE).*\b(UNIQUE|PRIMARY KEY)\b/,
  ],
  ['reads all rows under a lock', /^ADD (COLUMN )?.*\bDEFAULT (now|random|gen_random_uuid|clock_timestamp|nextval)\b/i],
  ['reads all rows under a lock', /^CREATE (UNIQUE )?INDEX (?!IF NOT EXISTS\b)/],
  ['changes all rows at once', /^(UPDATE|DELETE|TRUNCATE|INSERT)\b/],
  ['locks the table by itself', /^(LOCK|VACUUM|CLUSTER|REINDEX|REFRESH)\b/],
  ['cannot run in a transaction', /\bCONCURRENTLY\b/],
  ['overrides the lock timeout', /^SET\b.*\b(lock_timeout|statement_timeout)\b/],
];

/** Finds the rules that the statements of a migration break. Changes of tables that it creates itself break none. */
export function findBrokenRules(statements: readonly string[]): string[] {
  const parts = statements.flatMap(splitStatements);
  const created = parts.flatMap((part) => /^CREATE TABLE (?:IF NOT EXISTS )?(\S+)/.exec(part)?.[1] ?? []);
  const broken = parts
    .filter((part) => !created.includes(parseTable(part)))
    .flatMap(splitActions)
    .flatMap((action) => FORBIDDEN.filter(([, pattern]) => pattern.test(action)).map(([rule]) => rule));
  return [...new Set(broken)];
}

/** Splits SQL into statements. Comments, strings and function bodies are removed. */
function splitStatements(sql: string): string[] {
  return sql
    .replace(/\$(\w*)\$[\s\S]*?\$\1\$/g, "''")
    .replace(/E?'(?:[^'\\]|''|\\.)*'/g, "''")
    .replace(/--.*$|\/\*[\s\S]*?\*\//gm, '')
    .split(';')
    .map((statement) => statement.replace(/\s+/g, ' ').trim())
    .filter(Boolean);
}

/** Parses the name of the table that a statement changes or indexes. */
function parseTable(statement: string): string {
  return (
    /^(?:ALTER TABLE (?:IF EXISTS |ONLY )*|(?:CREATE (?:UNIQUE )?INDEX|CREATE TRIGGER|COMMENT ON).*? ON )(\S+)/.exec(
      statement,
    )?.[1] ?? ''
  );
}

/** Splits ALTER TABLE into its actions. Other statements are returned unchanged. */
function splitActions(statement: string): string[] {
  const list = /^ALTER TABLE (?:IF EXISTS |ONLY )*\S+ (.*)$/.exec(statement)?.[1];
  if (list === undefined) {
    return [statement];
  }
  let depth = 0;
  const separated = [...list].map((character) => {
    depth += character === '(' ? 1 : character === ')' ? -1 : 0;
    return character === ',' && depth === 0 ? '\n' : character;
  });
  return separated
    .join('')
    .split('\n')
    .map((action) => action.trim());
}

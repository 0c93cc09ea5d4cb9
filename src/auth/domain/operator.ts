/** The user who runs this process, as named in the audit trail. */
export abstract class Operator {
  abstract readonly name: string;
}

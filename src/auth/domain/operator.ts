/** Who runs this process, as the audit trail names them. */
export abstract class Operator {
  abstract readonly name: string;
}

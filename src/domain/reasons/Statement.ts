/** Reasons for which a statement of a verdict is not signed, or not accepted. */
import type { Params } from "../ReasonParams.ts"

export const statementReasons = {
  SigningKeyMissing: {},
  SigningKeyUnusable: {},
  /** The file is not a statement of the service, or was changed. */
  StatementNotEnvelope: {},
  StatementNotAsWritten: {},
  StatementKeyUnknown: { keyid: "text", keyids: "texts" },
  StatementSignatureWrong: {},
  StatementOfOtherKind: {},
  /** It is valid, and is about another change or other rules, or does not pass. */
  StatementOfOtherHead: { head: "text", other: "text" },
  StatementOfOtherBase: { base: "text", other: "text" },
  StatementOfOtherRepository: { repository: "text", other: "text" },
  StatementOfOlderRules: { names: "texts" },
  StatementReadersUnnamed: { count: "number" },
  StatementNotCarried: { file: "text" },
  StatementCarriedWrongly: { file: "text" },
  StatementFails: { count: "number" },
  StatementInconclusive: { outcome: "text" },
  /** The service has none. */
  NoStatement: {},
  StatementNeedsRunOrHead: {}
} as const satisfies Record<string, Params>

/** Reasons for which a statement of a verdict is not signed, or not accepted. */
import type { statementReasons } from "../../domain/reasons/Statement.ts"

export const statementTexts = {
  SigningKeyMissing: "no key of statements is configured; set {=server.statements.private_key_env} to its variable",
  SigningKeyUnusable:
    "the key in {=server.statements.private_key} is not an Ed25519 private key in PEM; make one with `openssl genpkey -algorithm ed25519`",
  StatementNotEnvelope: "the file is not a signed statement of aicr",
  StatementNotAsWritten:
    "the file is not as aicr wrote it: it was changed, or formatted again; download the statement without changing it",
  StatementKeyUnknown:
    "it is signed with the key {keyid}, and the key file has {keyids}; take the keys from /api/verdicts/key of a service that you trust",
  StatementSignatureWrong: "the signature is wrong: the statement was changed after it was signed",
  StatementOfOtherKind: "the signed text is not a verdict of aicr, or that of a later version",
  StatementOfOtherHead: "it is about {other}, not about {head}; wait for the review of this head",
  StatementOfOtherBase: "it is about a change of the branch {other}, not of {base}; wait for the review against {base}",
  StatementOfOtherRepository:
    "it is about the repository {other}, not about {repository}; download the statement of {repository}",
  StatementReadersUnnamed:
    "it names no review that read {count} unchanged {count|file|files}; request a full review of this head",
  StatementNotCarried: "{file} is not a statement that it carries on from; give one that `carried` names by its digest",
  StatementCarriedWrongly: "it states another run, head, configuration or models for {file} than that statement has",
  StatementOfOlderRules: "the rules have changed since the review: {names}; request the review again",
  StatementFails: "the verdict is a failure: {count} {count|problem counts|problems count}",
  StatementInconclusive: "the verdict is inconclusive ({outcome}): too little of the change was read",
  NoStatement:
    "No statement of such a verdict is stored. Statements exist only while {=server.statements} has a key, and for {=storage.retention.statements.max_age_months} months.",
  StatementNeedsRunOrHead: "give run, or head and repository"
} as const satisfies Record<keyof typeof statementReasons, string>

/** Converts messages of p4 to an error; no other file interprets them. */
import { redactCredentials } from "../../domain/RedactCredentials.ts"
import type { Reason } from "../../domain/Reason.ts"
import { CheckoutError } from "../Checkout.ts"
import { programFailed } from "../process/ProgramFailed.ts"

type Kind = CheckoutError["reason"]

/** A message of the server or of the client. */
export interface P4Message {
  readonly text: string
  /** 2 is a warning, 3 and above an error. */
  readonly severity: number
}

/** Names a change of the session after which the command may succeed. */
export type Repair = "log_in" | "unicode" | "no_unicode" | "no_json" | "other_keyword_option"

const repairs: ReadonlyArray<readonly [RegExp, Repair]> = [
  [
    /password \(P4PASSWD\) invalid or unset|session has expired|please login again|Your session was logged out/i,
    "log_in"
  ],
  [/permits only unicode enabled clients/i, "unicode"],
  [/Unicode clients require a unicode enabled server/i, "no_unicode"],
  [/Invalid option: -Mj|Invalid option: -M\b/i, "no_json"],
  [/Invalid option: -k\b/i, "other_keyword_option"]
]

/** Rows in order of precedence. */
const reasons: ReadonlyArray<readonly [RegExp, Kind]> = [
  [/No space left on device|Disk quota exceeded|Input\/output error/, "disk"],
  [/authenticity of '|IDENTIFICATION HAS CHANGED|SSL library|SSL certificate|not trusted/i, "failed"],
  [
    /password|session has expired|don't have permission|no permission|protections table|Access for user|login again|Ticket/i,
    "unauthorized"
  ],
  [
    /no such file|no such changelist|unknown\.?$|not in client view|must refer to|no file\(s\)|no revision\(s\)|file\(s\) not|no such stream|doesn't exist/i,
    "missing"
  ],
  [/Request too large|Too many rows|maxresults|maxscanrows|maxlocktime|Operation took too long/i, "limit"],
  [
    /Connect to server failed|TCP connect|connection (?:refused|reset|timed)|Partner exited|TCP (?:receive|send)|No route|Name or service not known|Temporary failure in name resolution|Network is unreachable|RpcTransport|read: |write: |journaling|License|too busy|Database .* locked|Server currently/i,
    "unreachable"
  ]
]

const hints: ReadonlyArray<readonly [RegExp, Reason]> = [
  [/IDENTIFICATION HAS CHANGED/i, { _tag: "FingerprintChanged" }],
  [/authenticity of '/i, { _tag: "SetFingerprint" }],
  [
    /password \(P4PASSWD\) invalid or unset|Password invalid|session has expired|login again|Ticket/i,
    { _tag: "RenewTicket" }
  ],
  [/Request too large|maxresults|Too many rows/i, { _tag: "RaiseMaxResults" }]
]

export const findRepair = (text: string): Repair | undefined => repairs.find(([pattern]) => pattern.test(text))?.[1]

export const classify = (text: string): Kind => reasons.find(([pattern]) => pattern.test(text))?.[1] ?? "failed"

/** Messages that only mean that there is nothing. */
export const isNothing = (text: string): boolean =>
  /no such file\(s\)|no file\(s\) at that|no revision\(s\)|file\(s\) up-to-date|no such changelist/i.test(text) ||
  /^Change \d+ unknown\.?$/im.test(text)

export const p4Failure = (command: string, text: string, secrets: ReadonlyArray<string>): CheckoutError => {
  const lines = text
    .split(/[\r\n]+/)
    .map((line) => line.trim())
    .filter((line) => line !== "" && !/^[@*]+$/.test(line))
  const shown = redactCredentials(lines.slice(0, 8).join("; "), secrets).slice(0, 700)
  const hint = hints.find(([pattern]) => pattern.test(text))?.[1]
  return new CheckoutError({
    reason: classify(text),
    why: programFailed(`p4 ${command}`, shown, hint)
  })
}

/** Next step after a connection that failed, by the error of Node.js. */
import type { Reason, ReasonTag } from "./Reason.ts"

type Advice = Extract<ReasonTag, "CertificateUntrusted" | "NameUnresolved" | "NothingListens" | "Unreachable" | "NoTls">

const rows: ReadonlyArray<readonly [pattern: RegExp, advice: Advice]> = [
  [/certificate|\bCERT_|SELF_SIGNED|UNABLE_TO_/, "CertificateUntrusted"],
  [/ENOTFOUND|EAI_AGAIN/, "NameUnresolved"],
  [/ECONNREFUSED/, "NothingListens"],
  [/EHOSTUNREACH|ENETUNREACH|ETIMEDOUT|CONNECT_TIMEOUT/, "Unreachable"],
  [/wrong version number|EPROTO|packet length too long/, "NoTls"]
]

/** Returns what to check after an error with this text, if the text is that of a failed connection. */
export const findConnectionAdvice = (text: string): Reason | undefined => {
  const advice = rows.find(([pattern]) => pattern.test(text))?.[1]
  return advice === undefined ? undefined : { _tag: advice }
}

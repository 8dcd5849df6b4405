/**
 * Credentials in added lines as findings: facts that no model makes, refutes or repeats. Their value is in no text. The list of permitted ones
 * is read from the protected base, and only when something was found.
 */
import { createHash } from "node:crypto"
import { Effect } from "effect"
import type { Workspace } from "../../config/Snapshot.ts"
import type { Finding } from "../../domain/Problem.ts"
import { codeKey } from "../../review/CodeKey.ts"
import type { LeakedCredential } from "../../review/LeakedCredentials.ts"
import { inLanguage } from "../../text/InLanguage.ts"
import type { Checkout, CheckoutError } from "../../vcs/Checkout.ts"
import type { AnalysisError } from "../AnalysisError.ts"
import type { ChangeThread } from "../ChangeThreads.ts"

const allowFile = ".aicr/allowed-credentials"
const maxAllowBytes = 65_536

export const credentialFindings = Effect.fn("credentialFindings")(function* (
  change: ChangeThread,
  checkout: Checkout,
  { review }: Workspace
): Effect.fn.Return<ReadonlyArray<Finding>, CheckoutError | AnalysisError> {
  const count = yield* change.run("inspectLines")
  if (count === 0 || review.credentials === "ignore") return []
  const allowList = (yield* checkout.file(allowFile, "rules", maxAllowBytes)) ?? ""
  const found = yield* change.run("credentials", allowList)
  return found.map((credential) => toFinding(credential, review.output_language))
})

const toFinding = ({ code, digest, kind, line, oldPath, path }: LeakedCredential, language: string): Finding => {
  const text = inLanguage(language)
  const anchor = { path, ...(oldPath === undefined ? {} : { oldPath }), side: "new", line } as const
  const quote = code.trim()
  const key = codeKey({ quote }, { code, anchor }, undefined)
  return {
    fingerprint: createHash("sha256")
      .update(JSON.stringify(["credential", oldPath ?? path, kind, digest]))
      .digest("hex")
      .slice(0, 32),
    problem: {
      file: path,
      line,
      severity: "critical",
      category: "security",
      title: text({ _tag: "CredentialAdded", kind }),
      message: text({ _tag: "CredentialAdvice", file: allowFile }),
      quote,
      confidence: 1
    },
    anchor,
    ...(key === undefined ? {} : { code: key }),
    fact: "credential"
  }
}

/** Credentials in the source, which the engine blots out before a model sees them, and checks of credentials that are switched off. */
import { secretMark } from "../../src/review/Secrets.ts"
import { code, eachLine } from "./Rule.ts"
import type { Rule } from "./Rule.ts"

const knownForm =
  /\b(?:AKIA[0-9A-Z]{16}|gh[pousr]_[A-Za-z0-9]{36}|xox[abpr]-[A-Za-z0-9-]{20,}|sk_live_[A-Za-z0-9]{16,})\b/
const privateKey = /-----BEGIN (?:[A-Z]+ )?PRIVATE KEY-----/
const named =
  /(?:password|passwd|secret|token|api_?key|access_?key|private_?key)[A-Za-z0-9_]*["']?\s*(?::\s*(?:str|string)\s*=|:=|[:=])\s*(["'`])([^"'`\s]{12,})\1/i

// Something random: letters and digits together, no placeholder, no path, no template.
const random = (value: string): boolean =>
  /[0-9]/.test(value) &&
  /[A-Za-z]/.test(value) &&
  !/[{}<>/]|example|changeme|placeholder|x{4,}|\.\.\./i.test(value) &&
  new Set(value).size >= 8

export const secretInSource: Rule = {
  id: "secret-in-source",
  title: "Credential in the source",
  category: "security",
  severity: "critical",
  extensions: code,
  find: (hunk) =>
    eachLine(hunk, (text) => {
      const value = named.exec(text)?.[2]
      const found = text.includes(secretMark) || knownForm.test(text) || privateKey.test(text)
      if (!found && (value === undefined || !random(value))) return undefined
      return {
        message:
          "A credential is in the source and therefore in the history: everyone who can read the repository can use it, and removing the line does not revoke it. Read it from the environment or a secret store, and revoke this one."
      }
    })
}

const unchecked =
  /\bverify\s*=\s*False\b|InsecureSkipVerify:\s*true|rejectUnauthorized:\s*false|NODE_TLS_REJECT_UNAUTHORIZED/

export const tlsUnchecked: Rule = {
  id: "tls-unchecked",
  title: "Certificate check switched off",
  category: "security",
  severity: "high",
  extensions: code,
  find: (hunk) =>
    eachLine(hunk, (text) =>
      unchecked.test(text)
        ? {
            message:
              "The certificate of the other side is not checked, so anyone on the way can read and change the traffic. Trust the right certificate authority instead."
          }
        : undefined
    )
}

/** Credentials echoed by a server are removed in every encoding. The first form occurred in practice. */
import * as fc from "fast-check"
import { assert, describe, it } from "vitest"
import { redactCredentials } from "../../src/domain/RedactCredentials.ts"

const token = "glpat-x/Y+z&7\"é'=q8"
const base64 = (text: string): string => Buffer.from(text).toString("base64")
const basic = base64(`oauth2:${token}`)
const header = `Authorization: Basic ${basic}`

const echoes: ReadonlyArray<readonly [string, string]> = [
  ["the base64 of a Basic header", basic],
  ["the whole header", header],
  ["the token in it", token],
  ["user and token", `oauth2:${token}`],
  ["JSON", JSON.stringify({ token })],
  ["JSON in JSON", JSON.stringify({ body: JSON.stringify({ token }) })],
  ["JSON with escaped slashes", JSON.stringify({ token }).replaceAll("/", "\\/")],
  ["a URL", `https://host/?t=${encodeURIComponent(token)}`],
  ["a URL in lower case", encodeURIComponent(token).replace(/%../g, (escape) => escape.toLowerCase())],
  ["a form", new URLSearchParams({ token }).toString()],
  ["HTML", `<b>${token.replaceAll("&", "&amp;").replaceAll('"', "&quot;")}</b>`],
  ["base64 under another user name", base64(`x-access-token:${token}`)],
  ["base64 in base64url", Buffer.from(`a:${token}`).toString("base64url")],
  ["base64 of the header", base64(header)],
  ["hexadecimal", Buffer.from(token).toString("hex")]
]

/** Returns the credential, and encodings from which it can be read. */
const decodings = (text: string): ReadonlyArray<string> => [
  text,
  ...(text.match(/[A-Za-z0-9+/_-]{8,}/g) ?? []).flatMap((word) =>
    [0, 1, 2, 3].map((at) => Buffer.from(word.slice(at), "base64").toString("latin1"))
  )
]

describe("a credential that a server echoes", () => {
  it.each(echoes)("as %s", (_, echo) => {
    const clean = redactCredentials(`before ${echo} after`, [header])
    assert.match(clean, /^before .*\[redacted\].* after$/)
    for (const text of decodings(clean)) assert.notInclude(text, "glpat-x")
    assert.notInclude(clean, basic.slice(8, 24))
  })

  it("is not kept in any encoding, whatever is around it", () => {
    fc.assert(
      fc.property(
        fc.string({ minLength: 10, maxLength: 60, unit: "grapheme-ascii" }).filter((text) => /^\S{10,}$/.test(text)),
        fc.string({ maxLength: 20 }),
        fc.string({ maxLength: 20 }),
        (secret, before, after) => {
          const around = `${before}${secret}${after}`
          for (const echo of [
            around,
            JSON.stringify(around),
            encodeURIComponent(around.toWellFormed()),
            base64(around)
          ]) {
            const clean = redactCredentials(echo, [secret])
            for (const form of [secret, JSON.stringify(secret).slice(1, -1), encodeURIComponent(secret)]) {
              assert.notInclude(clean, form)
            }
            assert.notInclude(Buffer.from(clean, "base64").toString("latin1"), secret)
          }
        }
      )
    )
  })

  it("is removed from user information of a proxy URL too", () => {
    const clean = redactCredentials("proxy said: us3r p%40ssword and p@ssword", ["http://us3r:p%40ssword@proxy:3128"])
    assert.strictEqual(clean, "proxy said: us3r [redacted] and [redacted]")
  })

  it("leaves other text alone", () => {
    const text = "403 Forbidden: the Basic token of an Authorization: header lacks a permission"
    assert.strictEqual(redactCredentials(text, [header, "", " ", "Bearer abcdefgh12345"]), text)
  })
})

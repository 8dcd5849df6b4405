import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { describe, expect, it } from "vitest"
import * as fc from "fast-check"
import { removeSecrets, scrubSecrets, secretMark } from "../../src/review/Secrets.ts"
import { isWhole, takeSample } from "../harness/Samples.ts"

/** Made here, so that nothing in this file looks like a leaked secret. */
const letters = "abcdefghijklmnopqrstuvwxyz"
const alphabet = `${letters}${letters.toUpperCase()}0123456789`
const random = (length: number, from = alphabet) =>
  fc.array(fc.constantFrom(...from), { minLength: length, maxLength: length }).map((chars) => chars.join(""))

const formats: ReadonlyArray<readonly [string, fc.Arbitrary<string>]> = [
  ["GitHub token", random(36).map((text) => `ghp_${text}`)],
  ["GitHub fine-grained token", random(60).map((text) => `github_pat_${text}`)],
  ["GitLab token", random(20).map((text) => `glpat-${text}`)],
  ["OpenAI key", random(40).map((text) => `sk-proj-${text}`)],
  ["Anthropic key", random(80).map((text) => `sk-ant-${text}`)],
  ["Stripe key", random(24).map((text) => `sk_live_${text}`)],
  ["AWS key id", random(16, `${letters.toUpperCase()}234567`).map((text) => `AKIA${text}`)],
  ["Google key", random(35).map((text) => `AIza${text}`)],
  ["Slack token", random(24).map((text) => `xoxb-${text}`)],
  ["npm token", random(36).map((text) => `npm_${text}`)],
  ["JWT", random(60).map((text) => `eyJ${text.slice(0, 20)}.eyJ${text.slice(20, 40)}.${text.slice(40)}`)],
  [
    "private key",
    random(64).map((text) => `-----BEGIN RSA PRIVATE KEY-----\n${text}\n${text}\n-----END RSA PRIVATE KEY-----`)
  ],
  ["password in a URL", random(12).map((text) => `postgres://app:${text}@db.internal/app`)],
  ["bearer header", random(20).map((text) => `Authorization: Bearer ${text}`)]
]

const secretOf = (text: string): string =>
  /(?<=:\/\/app:)[^@]+|(?<=Bearer ).+|(?<=KEY-----\n)[^\n]+/.exec(text)?.[0] ?? text

describe("secrets", () => {
  it.each(formats)("removes a %s in any position", (_, secret) => {
    fc.assert(
      fc.property(
        secret,
        fc.constantFrom(["", ""], ["const a = '", "'"], ["# use ", " here"], ["", "\nnext"], ["x=", ";"]),
        (value, [before = "", after = ""]) => {
          const scrubbed = scrubSecrets(`${before}${value}${after}`)
          expect(scrubbed).not.toContain(secretOf(value))
          expect(scrubbed).toContain(secretMark)
          expect(scrubbed.startsWith(before)).toBe(true)
          expect(scrubbed.endsWith(after)).toBe(true)
          expect(scrubSecrets(scrubbed)).toBe(scrubbed)
        }
      ),
      { numRuns: 100 }
    )
  })

  it("removes what is too random to be a word", () => {
    const mixed = fc
      .shuffledSubarray([...alphabet], { minLength: 40, maxLength: 40 })
      .map((chars) => chars.join(""))
      .filter((text) => (text.match(/\d/g)?.length ?? 0) >= 3)
    fc.assert(
      fc.property(mixed, (text) => {
        expect(scrubSecrets(`load("${text}")`)).toBe(`load("${secretMark}")`)
      })
    )
  })

  it.each([
    'password = "hunter2-is-mine"',
    'API_KEY: "k3y-0f-the-service"',
    "client_secret => 'A9!kd02#ls'",
    '"accessToken": "q8w7e6r5t4y3"'
  ])("removes the value of %s", (line) => expect(scrubSecrets(line)).toMatch(/\[secret removed\]["']$/))

  it.each([
    "const password = process.env.DB_PASSWORD",
    'token = "${TOKEN}"',
    'api_key = "your_api_key"',
    'secret = "changeme"',
    "token: 'userTokens'",
    "integrity sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
    "commit 2fd4e1c67a2d28fced849ee1bb76e7391b93eb12",
    "01a1faa4-5ba9-700e-926b-03dbc1726c7d",
    "import { someVeryLongFunctionNameForTheHandlerOfThings } from './deeply/nested/path/toTheModule'",
    "https://example.com/a/b?c=d",
    "class AbstractSingletonProxyFactoryBeanDefinition2Test3 {}",
    'maxTokensField: "max_completion_tokens"',
    'const tokenUri = "https://oauth2.googleapis.com/token"',
    'const PrivateKeyTypeId = "~effect/crypto/KeyAgreement/PrivateKey"',
    "// postgres://user:password@host:5432/database",
    'const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"',
    '"integrity": "sha512-Aup7aUOfpbAUg2ROOJN6Iw5f9DMBlzu0mIkm/malLQFN/YQgO48wCj0Kxa3sEHJvPVFg7siR"'
  ])("leaves %s", (line) => expect(scrubSecrets(line)).toBe(line))

  it("changes nothing but secrets, keeps lines, and takes no time on hostile text", () => {
    fc.assert(
      fc.property(fc.string({ maxLength: 300, unit: "grapheme" }), (text) => {
        const scrubbed = scrubSecrets(text)
        if (scrubbed === text) return
        expect(scrubbed).toContain(secretMark)
      }),
      { numRuns: 500 }
    )
    const started = performance.now()
    for (const piece of ["a", "password='", "-----BEGIN PRIVATE KEY-----", "http://a:", "eyJ.", "sk-"]) {
      scrubSecrets(piece.repeat(20_000))
    }
    expect(performance.now() - started).toBeLessThan(3000)
  })

  it("checks every line, and skips only those without any shape of a secret", () => {
    const piece = fc.oneof(
      ...formats.map(([, secret]) => secret),
      fc.string({ maxLength: 12, unit: "grapheme-ascii" }),
      fc.string({ maxLength: 6, unit: "grapheme" }),
      random(26),
      fc.constantFrom(
        "password",
        "Token",
        '"',
        "'",
        "=",
        ":",
        " => ",
        "://",
        "@",
        "authorization: bearer ",
        "-----BEGIN",
        " ",
        "."
      )
    )
    let removed = 0
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 6 }), (pieces) => {
        const text = pieces.join("")
        expect(scrubSecrets(text)).toBe(removeSecrets(text))
        if (removeSecrets(text) !== text) removed++
      }),
      { numRuns: 5000 }
    )
    expect(removed).toBeGreaterThan(1000)
  })

  it("does not change ordinary code", () => {
    const root = join(import.meta.dirname, "../..")
    const altered: Array<string> = []
    const missed: Array<string> = []
    let lines = 0
    for (const folder of [
      "src",
      "actors",
      "node_modules/effect/src",
      "node_modules/ai/src",
      "node_modules/undici/lib"
    ]) {
      // Descriptions of fields for credentials look like their values.
      const names = readdirSync(join(root, folder), { recursive: true, encoding: "utf8" }).filter(
        (name) => /\.[cm]?[jt]s$/.test(name) && !/\.test\.|[Ss]wagger|Scalar|text\/\w+\/Fields/.test(name)
      )
      for (const name of takeSample("AICR_TEST_TEXTS", names, 8)) {
        for (const line of readFileSync(join(root, folder, name), "utf8").split("\n")) {
          lines++
          const scrubbed = scrubSecrets(line)
          if (scrubbed !== removeSecrets(line)) missed.push(line)
          if (scrubbed !== line) altered.push(`${name}: ${line.trim().slice(0, 160)}`)
        }
      }
    }
    const share = altered.length / lines
    process.stdout.write(
      `scrubbing: ${altered.length} of ${lines} lines of ordinary code are altered (${(share * 100).toFixed(4)} %)\n`
    )
    expect(missed).toEqual([])
    const isAll = isWhole("AICR_TEST_TEXTS")
    expect(lines).toBeGreaterThan(isAll ? 300_000 : 30_000)
    // The files of a sample may have more such lines than all files have on average.
    expect(altered.slice(0, Math.max(0, altered.length - lines / (isAll ? 20_000 : 10_000)))).toEqual([])
  }, 180_000)
})

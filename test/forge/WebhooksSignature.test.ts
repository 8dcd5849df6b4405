/** Signatures: the published vectors of the hosts, and requests that must never pass. */
import { createHmac } from "node:crypto"
import * as fc from "fast-check"
import { Schema } from "effect"
import { assert, describe, it } from "vitest"
import type { ForgeKind } from "../../src/domain/Kinds.ts"
import type { Headers } from "../../src/forge/Forge.ts"
import { webhooks } from "../../src/forge/Webhooks.ts"
import { hasContracts, readContract } from "../harness/Contracts.ts"
import { isSignedBy } from "../harness/Verify.ts"

const verify = (kind: ForgeKind, secret: string, headers: Headers, body: string | Uint8Array, now = 0): boolean =>
  isSignedBy(webhooks[kind], secret, headers, body, now)

const hmac = (secret: string | Uint8Array, text: string) => createHmac("sha256", secret).update(text)

const Vectors = Schema.Record(
  Schema.String,
  Schema.Struct({
    vectors: Schema.Array(
      Schema.Struct({
        name: Schema.optionalKey(Schema.String),
        secret: Schema.NullOr(Schema.String),
        content_type: Schema.optionalKey(Schema.String),
        body: Schema.String,
        headers: Schema.Record(Schema.String, Schema.String),
        expect: Schema.Union([Schema.Boolean, Schema.String])
      })
    )
  })
)

describe("published signature vectors", () => {
  /** Decisions of this implementation where the vectors allow several. */
  const ours: Readonly<Record<string, boolean>> = {
    "either (GitHub always sends lower case)": true,
    "only when verification is skipped": false,
    "true only if the receiver signs the decoded payload field (GitHub signs the raw form body instead)": true,
    "policy: refuse": false,
    "true (ignoring timestamp tolerance)": true
  }
  const groups = hasContracts ? Schema.decodeUnknownSync(Vectors)(readContract("signature-vectors.json")) : {}

  it("cover each way to sign, where they are recorded", () => {
    assert.includeMembers(hasContracts ? Object.keys(kinds) : [], Object.keys(groups))
  })

  const kinds: Readonly<Record<string, ForgeKind>> = {
    github: "github",
    gitea: "gitea",
    forgejo: "forgejo",
    gitlab: "gitlab",
    standard_webhooks: "gitlab"
  }
  for (const [group, { vectors }] of Object.entries(groups)) {
    vectors.forEach((vector, index) => {
      it(`${group} ${index}: ${vector.name ?? JSON.stringify(vector.expect)}`, () => {
        const kind = kinds[group]
        assert.isDefined(kind, "a host we know")
        const expected = typeof vector.expect === "boolean" ? vector.expect : ours[vector.expect]
        assert.isDefined(expected, `what is to be expected of: ${vector.expect}`)
        const headers: Record<string, string> = {}
        for (const [name, value] of Object.entries(vector.headers)) headers[name.toLowerCase()] = value
        if (vector.content_type !== undefined) headers["content-type"] = vector.content_type
        // The clock of the sender, or for a wrong timestamp that of the vector before.
        const now = Number(headers["webhook-timestamp"] ?? 0) * 1000
        assert.strictEqual(verify(kind, vector.secret ?? "configured", headers, vector.body, now), expected)
      })
    })
  }
})

describe("headers", () => {
  const body = '{"ref":"refs/heads/main"}'
  const right = hmac("s", body).digest("hex")
  const wrong = hmac("t", body).digest("hex")

  const cases: ReadonlyArray<readonly [string, ReadonlyArray<ForgeKind>, Headers, boolean]> = [
    ["none", ["github", "gitea", "forgejo", "gitlab"], {}, false],
    ["hub, prefixed", ["github", "gitea", "forgejo"], { "x-hub-signature-256": `sha256=${right}` }, true],
    ["hub, bare", ["gitea", "forgejo"], { "x-hub-signature-256": right }, true],
    ["hub, bare", ["github"], { "x-hub-signature-256": right }, false],
    ["upper case", ["github", "gitea"], { "x-hub-signature-256": `sha256=${right.toUpperCase()}` }, true],
    ["gitea's", ["gitea", "forgejo"], { "x-gitea-signature": right }, true],
    ["gitea's", ["github", "gitlab"], { "x-gitea-signature": right }, false],
    ["forgejo's", ["gitea", "forgejo"], { "x-forgejo-signature": right }, true],
    ["the specification's", ["gitea", "forgejo"], { "x-githost-a-signature-256": `sha256=${right}` }, true],
    ["the specification's", ["github"], { "x-githost-c-signature-256": `sha256=${right}` }, true],
    ["the specification's token", ["gitlab"], { "x-githost-d-token": "s" }, true],
    [
      "all of them",
      ["gitea", "forgejo"],
      { "x-gitea-signature": right, "x-forgejo-signature": right, "x-hub-signature-256": `sha256=${right}` },
      true
    ],
    ["one of them wrong", ["gitea", "forgejo"], { "x-gitea-signature": right, "x-forgejo-signature": wrong }, false],
    [
      "one of them empty",
      ["gitea", "forgejo"],
      { "x-gitea-signature": right, "x-hub-signature-256": "sha256=" },
      false
    ],
    ["empty", ["github", "gitea", "forgejo"], { "x-hub-signature-256": "" }, false],
    ["a bare prefix", ["github", "gitea", "forgejo"], { "x-hub-signature-256": "sha256=" }, false],
    ["twice the same", ["gitea"], { "x-gitea-signature": `${right}, ${right}` }, false],
    ["SHA-1", ["github", "gitea", "forgejo"], { "x-hub-signature": `sha1=${right.slice(0, 40)}` }, false],
    ["Gogs'", ["gitea", "forgejo"], { "x-gogs-signature": right }, false],
    ["a token", ["gitlab"], { "x-gitlab-token": "s" }, true],
    ["an empty token", ["gitlab"], { "x-gitlab-token": "" }, false],
    ["a token that begins right", ["gitlab"], { "x-gitlab-token": "s " }, false],
    ["two tokens, one wrong", ["gitlab"], { "x-gitlab-token": "s", "x-githost-d-token": "t" }, false],
    ["a signature for a token", ["gitlab"], { "x-gitlab-token": right }, false]
  ]
  for (const [what, kinds, headers, expected] of cases) {
    for (const kind of kinds) {
      it(`${kind}, ${what}: ${expected}`, () => assert.strictEqual(verify(kind, "s", headers, body), expected))
    }
  }

  it("an empty or blank secret opens nothing", () => {
    for (const blank of ["", " ", "\t\n"]) {
      const unkeyed = hmac(blank, body).digest("hex")
      assert.isFalse(verify("github", blank, { "x-hub-signature-256": `sha256=${unkeyed}` }, body))
      assert.isFalse(verify("gitea", blank, { "x-gitea-signature": unkeyed }, body))
      assert.isFalse(verify("gitlab", blank, { "x-gitlab-token": blank }, body))
    }
    const signing = { "webhook-id": "a", "webhook-timestamp": "0", "webhook-signature": "" }
    assert.isFalse(verify("gitlab", "whsec_", signing, body))
  })
})

describe("signing tokens", () => {
  const key = Buffer.from("0123456789abcdef0123456789abcdef")
  const secret = `whsec_${key.toString("base64")}`
  const sign = (seconds: number, body = "{}") => ({
    "webhook-id": "one",
    "webhook-timestamp": String(seconds),
    "webhook-signature": `v1,${hmac(key, `one.${seconds}.${body}`).digest("base64")}`
  })
  const at = 1_761_955_200

  it("are good for five minutes, both ways", () => {
    for (const [off, expected] of [
      [0, true],
      [300, true],
      [-300, true],
      [301, false],
      [-301, false]
    ] as const) {
      assert.strictEqual(verify("gitlab", secret, sign(at), "{}", (at + off) * 1000), expected, String(off))
    }
  })

  it("are not satisfied by less", () => {
    const whole = sign(at)
    for (const name of Object.keys(whole)) {
      for (const value of [undefined, "", "x"]) {
        assert.isFalse(verify("gitlab", secret, { ...whole, [name]: value }, "{}", at * 1000), `${name}=${value}`)
      }
    }
    assert.isFalse(verify("gitlab", secret, whole, "{ }", at * 1000))
    assert.isFalse(verify("gitlab", secret, { "x-gitlab-token": secret }, "{}", at * 1000))
    assert.isFalse(verify("gitlab", secret, { ...whole, "webhook-timestamp": "Infinity" }, "{}", at * 1000))
  })
})

describe("for any input", () => {
  const kinds: ReadonlyArray<ForgeKind> = ["gitea", "forgejo", "github", "gitlab"]
  const names = [
    "x-hub-signature-256",
    "x-gitea-signature",
    "x-forgejo-signature",
    "x-gitlab-token",
    "webhook-id",
    "webhook-timestamp",
    "webhook-signature",
    "content-type"
  ]
  const headers = fc.dictionary(
    fc.constantFrom(...names),
    fc.oneof(fc.string(), fc.constantFrom("application/x-www-form-urlencoded", "sha256=", "v1,", "0"))
  )

  it("nothing passes that was not signed, and nothing throws", () => {
    fc.assert(
      fc.property(
        fc.constantFrom(...kinds),
        headers,
        fc.uint8Array({ maxLength: 300 }),
        fc.constantFrom("a secret nobody guesses", "whsec_bm9ib2R5IGd1ZXNzZXMgdGhpcw=="),
        (kind, sent, body, secret) => {
          assert.isFalse(verify(kind, secret, sent, body))
        }
      ),
      { numRuns: 2000 }
    )
  })

  it("what is signed passes, whatever the bytes", () => {
    fc.assert(
      fc.property(
        fc.constantFrom("gitea", "forgejo", "github"),
        fc.uint8Array({ maxLength: 300 }),
        // A blank secret is refused, whatever is signed with it.
        fc.string().filter((secret) => secret.trim() !== ""),
        (kind, body, secret) => {
          const signature = createHmac("sha256", secret).update(body).digest("hex")
          assert.isTrue(verify(kind, secret, { "x-hub-signature-256": `sha256=${signature}` }, body))
        }
      )
    )
  })
})

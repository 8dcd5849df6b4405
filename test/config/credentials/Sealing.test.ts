/** Sealed credentials: vectors, moved and damaged values, missing keys, rotation, and documents that contain them. */
import { createHash, webcrypto } from "node:crypto"
import { describe, expect, it } from "vitest"
import * as fc from "fast-check"
import { Redacted, Result } from "effect"
import { readText } from "../../../src/config/LoadConfig.ts"
import { parseField, rotateText, sealField } from "../../../src/config/SealField.ts"
import { openSealed, seal, sealingKeys } from "../../../src/config/credentials/Sealing.ts"
import type { SealedLocation, SealingKeys } from "../../../src/config/credentials/Sealing.ts"
import { inEnglish } from "../../../src/text/en.ts"

const bytes = Buffer.from(Array.from({ length: 32 }, (_, at) => at))
const old = bytes.toString("hex")
const recent = Buffer.alloc(32, 7).toString("base64")
const place: SealedLocation = { namespace: "default", entity: "triggers/main", field: "token" }
const keysOf = (env: Record<string, string>): SealingKeys => Result.getOrThrow(sealingKeys(env))
const oldKeys = keysOf({ SVC_CONFIG_SECRETS_KEY: old })
const plain = (result: Result.Result<Redacted.Redacted, unknown>) => Result.map(result, Redacted.value)

/** Computed once with another implementation of AES-256-GCM, outside of this program. */
const vector = "enc:v1.630dcd29.AAECAwQFBgcICQoL.NDG1aaCR72_iKvLlnCrE9RrF2x33eQrp21N5VioZ-A"

describe("sealing", () => {
  it("gives the known value for a known key, nonce and place", () => {
    const nonce = Buffer.from(Array.from({ length: 12 }, (_, at) => at))
    expect(seal(oldKeys, place, Redacted.make("s3cret-token-ü"), nonce)).toEqual(Result.succeed(vector))
    expect(plain(openSealed(oldKeys, place, vector))).toEqual(Result.succeed("s3cret-token-ü"))
  })

  it("names the key by the start of its hash, and opens with Web Crypto as well", async () => {
    const sealed = Result.getOrThrow(seal(oldKeys, place, Redacted.make("secret")))
    const found = /^enc:v1\.(.{8})\.([^.]+)\.([^.]+)$/.exec(sealed)
    expect(found?.[1]).toBe(createHash("sha256").update(bytes).digest("hex").slice(0, 8))
    const key = await webcrypto.subtle.importKey("raw", bytes, "AES-GCM", false, ["decrypt"])
    const opened = await webcrypto.subtle.decrypt(
      {
        name: "AES-GCM",
        iv: Buffer.from(found?.[2] ?? "", "base64url"),
        additionalData: Buffer.from('["default","triggers/main","token"]')
      },
      key,
      Buffer.from(found?.[3] ?? "", "base64url")
    )
    expect(Buffer.from(opened).toString()).toBe("secret")
  })

  it("any text comes back, at its own place only, and never twice as the same value", () => {
    const texts = fc.string({ unit: "binary", maxLength: 200 })
    fc.assert(
      fc.property(texts, texts, texts, texts, (secret, namespace, entity, field) => {
        const here = { namespace, entity, field }
        const sealed = Result.getOrThrow(seal(oldKeys, here, Redacted.make(secret)))
        expect(plain(openSealed(oldKeys, here, sealed))).toEqual(Result.succeed(Buffer.from(secret).toString()))
        expect(Result.getOrThrow(seal(oldKeys, here, Redacted.make(secret)))).not.toBe(sealed)
        for (const moved of [
          { ...here, namespace: `${namespace}x` },
          { ...here, entity: `${entity}x` },
          { ...here, field: `${field}x` },
          { namespace: `${namespace}${entity}`, entity: "", field }
        ]) {
          if (JSON.stringify(moved) === JSON.stringify(here)) continue
          expect(openSealed(oldKeys, moved, sealed)).toMatchObject({ failure: { code: "secret_sealing_invalid" } })
        }
      })
    )
  })

  it("what is altered in any letter does not open", () => {
    const [head = "", nonce = "", text = ""] = [vector.slice(0, 15), vector.slice(16, 32), vector.slice(33)]
    const flip = (part: string, at: number) => part.slice(0, at) + (part[at] === "A" ? "B" : "A") + part.slice(at + 1)
    // The last letter of base64url may contain unused bits.
    const damaged = [
      ...Array.from({ length: nonce.length }, (_, at) => [head, flip(nonce, at), text].join(".")),
      ...Array.from({ length: text.length - 1 }, (_, at) => [head, nonce, flip(text, at)].join("."))
    ]
    expect(damaged.length).toBeGreaterThan(40)
    for (const value of damaged) expect(Result.isFailure(openSealed(oldKeys, place, value))).toBe(true)
  })

  it.each(["enc:v1.", "enc:v1.a.b.c", "enc:v1.00000000.AAAAAAAAAAAAAAAA.A", `${vector}.x`, vector.slice(0, -24)])(
    "%s is refused",
    (value) => {
      expect(openSealed(oldKeys, place, value)).toMatchObject({ failure: { code: "secret_sealing_invalid" } })
    }
  )
})

describe("keys", () => {
  it.each([
    ["hex", old],
    ["hex in capitals", old.toUpperCase()],
    ["base64", bytes.toString("base64")],
    ["base64 without its end", bytes.toString("base64").replace("=", "")],
    ["base64url", bytes.toString("base64url")],
    ["with a line break", `${old}\n`]
  ])("%s", (_, text) => {
    expect(plain(openSealed(keysOf({ SVC_CONFIG_SECRETS_KEY: text }), place, vector))).toEqual(
      Result.succeed("s3cret-token-ü")
    )
  })

  it.each([{ SVC_CONFIG_SECRETS_KEY: "short" }, { SVC_CONFIG_SECRETS_KEY: old, SVC_CONFIG_SECRETS_KEY_PREVIOUS: "x" }])(
    "%j is refused, and not shown",
    (env) => {
      expect(sealingKeys(env)).toMatchObject({ failure: { code: "secrets_key_missing" } })
      expect(JSON.stringify(sealingKeys(env))).not.toContain(old)
    }
  )

  it("without a key nothing is sealed or opened", () => {
    const none = keysOf({})
    expect(seal(none, place, Redacted.make("x"))).toMatchObject({ failure: { code: "secrets_key_missing" } })
    expect(openSealed(none, place, vector)).toMatchObject({ failure: { code: "secrets_key_missing" } })
    expect(openSealed(keysOf({ SVC_CONFIG_SECRETS_KEY: recent }), place, vector)).toMatchObject({
      failure: { code: "secrets_key_missing", reason: { variable: "SVC_CONFIG_SECRETS_KEY_PREVIOUS" } }
    })
  })

  it("retired keys open and do not seal", () => {
    const both = keysOf({ SVC_CONFIG_SECRETS_KEY: recent, SVC_CONFIG_SECRETS_KEY_PREVIOUS: ` , ${old}` })
    expect(plain(openSealed(both, place, vector))).toEqual(Result.succeed("s3cret-token-ü"))
    expect(Result.getOrThrow(seal(both, place, Redacted.make("x")))).not.toContain(vector.slice(7, 15))
    expect(seal(keysOf({ SVC_CONFIG_SECRETS_KEY_PREVIOUS: old }), place, Redacted.make("x"))).toMatchObject({
      failure: { code: "secrets_key_missing" }
    })
  })
})

describe("fields", () => {
  const sealed = (field: string) =>
    sealField(field, Redacted.make("s3cret"), "default", { SVC_CONFIG_SECRETS_KEY: old })

  it.each([
    ["triggers.main.token"],
    ["triggers.main.app.private_key"],
    ["llm.providers.p.api_key"],
    ['workspaces.instances["a.b"].auth.api_key'],
    ["workspaces.instances.w.context_repositories.lib.token"],
    ["workspaces.defaults.context_repositories.lib.token"],
    ["outputs.channels.chat.webhook_url"],
    ["server.auth.api_key"],
    ["server.statements.private_key"],
    ["admin.password"]
  ])("%s is sealed", (field) => expect(Result.isSuccess(sealed(field))).toBe(true))

  it.each([
    ["triggers.main.tokn", 'triggers.main has no field "tokn"'],
    ["triggers.main.name", "is not a credential"],
    ["triggers.main", "is not a credential"],
    ["nonsense", 'the document has no field "nonsense"'],
    ["triggers.main.token.more", "triggers.main.token has no fields"],
    ["", "invalid path"],
    ["a..b", "invalid path"]
  ])("%j is refused", (field, message) =>
    expect(Result.merge(Result.mapError(sealed(field), inEnglish))).toContain(message)
  )

  it.each([
    ["a.b", ["a", "b"]],
    ['a["b.c"].d', ["a", "b.c", "d"]],
    ['a["b\\"c"]', ["a", 'b"c']],
    ["a[0]", undefined],
    [".a", undefined]
  ])("%j is read as %j", (text, names) => expect(parseField(text)).toEqual(names))
})

const sealFor = (field: string, secret: string, namespace = "default") =>
  Result.getOrThrow(sealField(field, Redacted.make(secret), namespace, { SVC_CONFIG_SECRETS_KEY: old }))
const documentWith = (token: string, more = "") => `# kept as it is
triggers:
  - name: other
    kind: gitea
  - name: main   # the one
    kind: gitea
    base_url: https://git.example
    token: "${token}"
${more}`

describe("documents", () => {
  const env = { SVC_CONFIG_SECRETS_KEY: old }
  const tokenOf = (text: string, variables: Record<string, string> = env) => {
    const { snapshot, issues } = readText(text, variables)
    const token = snapshot?.triggers.get("main")?.token
    return { token: token && Redacted.value(token), errors: issues.filter(({ severity }) => severity === "error") }
  }

  it("a sealed credential works like the literal itself", () => {
    expect(tokenOf(documentWith(sealFor("triggers.main.token", "s3cret")))).toEqual({ token: "s3cret", errors: [] })
  })

  it("of a namespace of its own, under another spelling of its kind, and with another place in the list", () => {
    const sealed = sealFor("triggers.main.token", "s3cret", "team")
    const text = documentWith(sealed, "config_sources: {database: {namespace: team}}\n").replace(
      "kind: gitea",
      "kind: githost_a"
    )
    expect(tokenOf(text)).toEqual({ token: "s3cret", errors: [] })
  })

  it("has the same hash however it is sealed", () => {
    const hashes = ["a", "b"].map(
      () => readText(documentWith(sealFor("triggers.main.token", "s3cret")), env).snapshot?.hash
    )
    expect(hashes[0]).toBe(hashes[1])
    expect(hashes[0]).toBe(readText(documentWith("s3cret"), env).snapshot?.hash)
  })

  it.each([
    [
      "of another trigger",
      sealFor("triggers.other.token", "s3cret"),
      env,
      "secret_sealing_invalid: it does not open here"
    ],
    ["of another field", sealFor("triggers.main.webhook_secret", "s3cret"), env, "secret_sealing_invalid"],
    ["of another namespace", sealFor("triggers.main.token", "s3cret", "x"), env, "secret_sealing_invalid"],
    ["cut off", sealFor("triggers.main.token", "s3cret").slice(0, -30), env, "secret_sealing_invalid: not of the form"],
    ["without the key", sealFor("triggers.main.token", "s3cret"), {}, "secrets_key_missing: it is sealed with key"],
    [
      "with a key that is none",
      sealFor("triggers.main.token", "s3cret"),
      { SVC_CONFIG_SECRETS_KEY: "x" },
      "secrets_key_missing"
    ]
  ])("a value %s is an error at its line", (_, sealed, variables, message) => {
    const { errors } = tokenOf(documentWith(sealed), variables)
    expect(errors).toMatchObject([{ path: "triggers[1].token", line: 8 }])
    expect(errors.map(({ reason }) => inEnglish(reason))).toEqual([expect.stringContaining(message)])
    expect(JSON.stringify(errors)).not.toContain(sealed)
  })

  it("to judge a document the key is not needed; the credential is then as if it were not set", () => {
    const text = documentWith(sealFor("triggers.main.token", "s3cret"))
    const { snapshot, issues } = readText(text, {}, { unset: "warnings" })
    expect(snapshot?.triggers.get("main")?.token).toBeUndefined()
    expect(issues).toContainEqual(expect.objectContaining({ severity: "warning", path: "triggers[1].token" }))
  })
})

describe("rotation", () => {
  const both = { SVC_CONFIG_SECRETS_KEY: recent, SVC_CONFIG_SECRETS_KEY_PREVIOUS: old }

  it("seals with the current key, and changes nothing else", () => {
    const sealed = sealFor("triggers.main.token", "s3cret")
    const text = documentWith(sealed)
    const found = Result.getOrThrow(rotateText(text, both))
    expect(found).toMatchObject({ rotated: ["triggers[1].token"], current: [] })
    const next = /"(enc:[^"]+)"/.exec(found.text)?.[1] ?? ""
    expect(next).not.toBe(sealed)
    expect(found.text).toBe(text.replace(sealed, next))
    const { snapshot } = readText(found.text, { SVC_CONFIG_SECRETS_KEY: recent })
    expect(snapshot?.triggers.get("main")?.token).toEqual(Redacted.make("s3cret"))
    expect(Result.getOrThrow(rotateText(found.text, both))).toEqual({
      text: found.text,
      rotated: [],
      current: ["triggers[1].token"]
    })
  })

  it.each([
    [
      sealFor("triggers.main.token", "s3cret"),
      { SVC_CONFIG_SECRETS_KEY: recent },
      "line 8, triggers[1].token: secrets_key_missing"
    ],
    [sealFor("triggers.other.token", "s3cret"), both, "line 8, triggers[1].token: secret_sealing_invalid"],
    [sealFor("triggers.main.token", "s3cret"), { SVC_CONFIG_SECRETS_KEY_PREVIOUS: old }, "secrets_key_missing"]
  ])("is refused whole where one does not open", (sealed, env, message) => {
    const found = Result.flip(rotateText(documentWith(sealed), env))
    expect(Result.getOrThrow(found).map(inEnglish)).toEqual([expect.stringContaining(message)])
  })

  it("text that looks sealed outside of a credential does not change", () => {
    const text = `prompts: {system: {a: "enc:v1.x"}}\n`
    expect(Result.getOrThrow(rotateText(text, both))).toEqual({ text, rotated: [], current: [] })
  })
})

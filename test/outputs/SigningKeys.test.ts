/** The key of statements, out of a loaded configuration. */
import { generateKeyPairSync } from "node:crypto"
import { Effect, Redacted, Result } from "effect"
import { describe, expect, it } from "vitest"
import { toSnapshot } from "../../src/config/LoadConfig.ts"
import { sealField } from "../../src/config/SealField.ts"
import { openStatement, readSigningKey, signStatement } from "../../src/domain/SignedStatement.ts"
import { signingKey, signsVerdicts } from "../../src/outputs/SigningKeys.ts"

const pem = generateKeyPairSync("ed25519").privateKey.export({ type: "pkcs8", format: "pem" }).toString()
const own = readSigningKey(pem) ?? expect.fail("no key")
const sealing = { SVC_CONFIG_SECRETS_KEY: "0a".repeat(32) }
const sealed = Result.getOrThrow(sealField("server.statements.private_key", Redacted.make(pem), "default", sealing))

const load = (statements: object, env: Readonly<Record<string, string>> = {}) =>
  Effect.runSync(toSnapshot({ server: { statements } }, env))

describe("server.statements", () => {
  it.each([
    ["private_key", { private_key: pem }, {}],
    ["private_key_env", { private_key_env: "KEY" }, { KEY: pem }],
    ["private_key_env in base64", { private_key_env: "KEY" }, { KEY: Buffer.from(pem).toString("base64") }],
    ["private_key that is sealed", { private_key: sealed }, sealing]
  ])("%s is the key that signs", (_, statements, env) => {
    const snapshot = load(statements, env)
    const key = signingKey(snapshot)
    if ("_tag" in key) throw new Error(key._tag)
    expect(openStatement(Buffer.from(signStatement("{}", key)), [own])).toEqual(Result.succeed("{}"))
    expect(signsVerdicts(snapshot)).toBe(true)
    expect(JSON.stringify(snapshot.document.server)).not.toContain("PRIVATE")
  })

  it("without a key no verdict is signed", () => {
    const snapshot = load({})
    expect([signsVerdicts(snapshot), signingKey(snapshot)]).toEqual([false, { _tag: "SigningKeyMissing" }])
  })

  it.each(["text", pem.replace("MC4C", "AAAA")])("a key that cannot be used is not shown", (text) => {
    const snapshot = load({ private_key: text })
    expect([signsVerdicts(snapshot), signingKey(snapshot)]).toEqual([true, { _tag: "SigningKeyUnusable" }])
  })
})

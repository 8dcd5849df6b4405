import { Redacted, Result } from "effect"
import { inspect } from "node:util"
import { describe, expect, it } from "vitest"
import { natsSettings } from "../../nats/NatsSettings.ts"

const settings = (env: Record<string, string>) => {
  const found = Result.getOrThrow(natsSettings(env))
  if (found === undefined) throw new Error("none")
  return found
}
const url = "nats://bus.example:4333"

describe("settings from the environment", () => {
  it.each([{}, { SVC_NATS_URL: "" }, { SVC_NATS_URL: "  ", SVC_NATS_TOKEN: "t" }])("%j: no NATS", (env) => {
    expect(Result.getOrThrow(natsSettings(env))).toBeUndefined()
  })

  it.each([
    ["nats://bus.example", ["bus.example:4222"]],
    ["bus.example:4333", ["bus.example:4333"]],
    ["nats://a:1,nats://b:2, c ,", ["a:1", "b:2", "c:4222"]],
    ["nats://[::1]:4222", ["[::1]:4222"]]
  ])("%s", (text, servers) => {
    expect(settings({ SVC_NATS_URL: text })).toEqual({
      servers,
      auth: { kind: "none" },
      tls: undefined,
      prefix: "aicr",
      replicas: 1
    })
  })

  it("credentials, from variables or from the address, are never shown", () => {
    for (const env of [
      { SVC_NATS_URL: url, SVC_NATS_USER: "me", SVC_NATS_PASSWORD: "s3cret" },
      { SVC_NATS_URL: "nats://me:s3cret@bus.example:4333" },
      { SVC_NATS_URL: "nats://me:s3cret@a:1,nats://me:s3cret@b:2" }
    ]) {
      const { auth, ...others } = settings(env)
      expect(auth.kind === "password" && [auth.user, Redacted.value(auth.password)]).toEqual(["me", "s3cret"])
      expect(inspect({ auth, others }, { depth: 9 }) + JSON.stringify({ auth, others })).not.toContain("s3cret")
    }
    const { auth } = settings({ SVC_NATS_URL: "nats://t0ken@bus.example" })
    expect(auth.kind === "token" && Redacted.value(auth.token)).toBe("t0ken")
  })

  it.each([
    [{ SVC_NATS_CREDS_PATH: "/c" }, { kind: "creds", path: "/c" }],
    [{ SVC_NATS_NKEY_SEED_PATH: "/n" }, { kind: "nkey", path: "/n" }]
  ])("%j", (env, auth) => {
    expect(settings({ SVC_NATS_URL: url, ...env }).auth).toEqual(auth)
  })

  it("TLS, prefix, copies", () => {
    const none = { caPath: undefined, certPath: undefined, keyPath: undefined }
    expect(settings({ SVC_NATS_URL: "tls://bus.example" }).tls).toEqual(none)
    expect(settings({ SVC_NATS_URL: url, SVC_NATS_TLS_CA_PATH: "/ca" }).tls).toEqual({ ...none, caPath: "/ca" })
    const pair = { SVC_NATS_TLS_CERT_PATH: "/cert", SVC_NATS_TLS_KEY_PATH: "/key" }
    expect(settings({ SVC_NATS_URL: url, ...pair }).tls).toEqual({ ...none, certPath: "/cert", keyPath: "/key" })
    const { prefix, replicas } = settings({ SVC_NATS_URL: url, SVC_NATS_PREFIX: "team-1_x", SVC_NATS_REPLICAS: "3" })
    expect([prefix, replicas]).toEqual(["team-1_x", 3])
  })

  it.each([
    [{ SVC_NATS_URL: "," }, "names no server"],
    [{ SVC_NATS_URL: "nats://" }, "has no host"],
    [{ SVC_NATS_URL: "nats://s3cret@x:y" }, "is not a URL"],
    [{ SVC_NATS_URL: "http://s3cret@x" }, "http:// is not supported"],
    [{ SVC_NATS_URL: "nats://:s3cret@x" }, "a password but no user"],
    [{ SVC_NATS_URL: "nats://a:s3cret%zz@x" }, "not percent-encoded"],
    [{ SVC_NATS_URL: "nats://a:s3cret@x,nats://b:s3cret@y" }, "different credentials"],
    [{ SVC_NATS_URL: url, SVC_NATS_USER: "me" }, "SVC_NATS_USER is set but SVC_NATS_PASSWORD is not"],
    [{ SVC_NATS_URL: url, SVC_NATS_PASSWORD: "s3cret" }, "SVC_NATS_PASSWORD is set but SVC_NATS_USER is not"],
    [
      { SVC_NATS_URL: url, SVC_NATS_TLS_CERT_PATH: "/c" },
      "SVC_NATS_TLS_CERT_PATH is set but SVC_NATS_TLS_KEY_PATH is not"
    ],
    [
      { SVC_NATS_URL: "nats://me:s3cret@x", SVC_NATS_TOKEN: "s3cret" },
      "several ways: SVC_NATS_TOKEN, credentials in SVC_NATS_URL; keep one"
    ],
    [{ SVC_NATS_URL: url, SVC_NATS_PREFIX: "a.b" }, "SVC_NATS_PREFIX"],
    [{ SVC_NATS_URL: url, SVC_NATS_REPLICAS: "2" }, "1, 3 or 5"]
  ])("%j is refused, without its secrets", (env, why) => {
    const result = natsSettings(env)
    const message = Result.isFailure(result) ? result.failure : "accepted"
    expect(message).toContain(why)
    expect(message).not.toContain("s3cret")
  })
})

/**
 * The cost of an unverified body, counted in steps and HMACs, so that the machine does not matter. The first inputs are attacks.
 */
import { createHmac } from "node:crypto"
import { Redacted } from "effect"
import * as fc from "fast-check"
import { assert, describe, it } from "vitest"
import { DeliveryBody, stepBytes } from "../../src/forge/DeliveryBody.ts"
import type { ForgeWebhook, Headers } from "../../src/forge/Forge.ts"
import { webhooks } from "../../src/forge/Webhooks.ts"
import { atOnce } from "../harness/Verify.ts"

const mebibyte = 1024 * 1024
const form = { "content-type": "application/x-www-form-urlencoded" }
const forged = { "x-gitea-signature": "0".repeat(64), "x-hub-signature-256": `sha256=${"0".repeat(64)}` }

/** A form of about `size` bytes whose payload field is made of whole `unit`s. */
const flood = (unit: string | Uint8Array, size: number): Buffer => {
  const name = "payload="
  const body = Buffer.alloc(name.length + Math.floor(size / unit.length) * unit.length)
  return body.fill(unit, body.write(name))
}

/** Splits a body into blocks, as they arrive from a socket. */
const blocksOf = (body: Buffer): ReadonlyArray<Buffer> =>
  Array.from({ length: Math.ceil(body.length / 65_536) }, (_, at) => body.subarray(at * 65_536, (at + 1) * 65_536))

/** The webhook, counting the secrets that are checked. */
const counting = (webhook: ForgeWebhook) => {
  const counted = { checks: 0 }
  const signature: ForgeWebhook["signature"] = (headers) => {
    const claim = webhook.signature(headers)
    return (
      claim &&
      ((secret, now) => {
        counted.checks++
        return claim(secret, now)
      })
    )
  }
  return { counted, webhook: { ...webhook, signature } }
}

const stepsOf = (
  kind: "gitea" | "forgejo" | "github",
  headers: Headers,
  body: Buffer,
  secrets: ReadonlyArray<string>
) => {
  const { counted, webhook } = counting(webhooks[kind])
  const steps = new DeliveryBody(headers, blocksOf(body)).signedBy(
    webhook,
    secrets.map((secret) => Redacted.make(secret)),
    0
  )
  let count = 1
  while (steps.next().done !== true) count++
  return { count, checks: counted.checks }
}

const floods: ReadonlyArray<readonly [string, string | Uint8Array]> = [
  ["spaces", "+"],
  ["escapes", "%41"],
  ["Latin-1", Buffer.from([0xe4])],
  ["escaped bytes that are not UTF-8", "%FF"],
  ["fields", "&payload="],
  ["percent signs", "%"],
  ["half escapes", "%4"]
]

describe("an unverified body", () => {
  for (const [what, unit] of floods) {
    for (const kind of ["gitea", "forgejo", "github"] as const) {
      it(`${kind}, 25 MiB of ${what}: one decoding and one HMAC for 42 triggers with one secret`, () => {
        const size = 25 * mebibyte
        const { checks, count } = stepsOf(kind, { ...form, ...forged }, flood(unit, size), Array(42).fill("secret"))
        assert.isAtMost(checks, 1)
        // One pass to decode, one to hash, each in steps of the same length.
        assert.isAtMost(count, 2 * (size / stepBytes) + 2)
      })
    }
  }

  it("costs one HMAC more for each further secret, and no further decoding", () => {
    const size = 4 * mebibyte
    const secrets = Array.from({ length: 42 }, (_, at) => `secret ${at % 7}`)
    const { checks, count } = stepsOf("gitea", { ...form, ...forged }, flood("+", size), secrets)
    assert.strictEqual(checks, 7)
    assert.isAtMost(count, 8 * (size / stepBytes) + 2)
  })

  it("costs at most twice as much when it is twice as long", () => {
    for (const [what, unit] of floods) {
      const steps = (size: number) => stepsOf("gitea", { ...form, ...forged }, flood(unit, size), ["a", "b"]).count
      assert.isAtMost(steps(8 * mebibyte), 2.2 * steps(4 * mebibyte), what)
    }
  })

  it("is decoded in place: no second copy is held until it is verified", () => {
    const body = flood("%41", 24 * mebibyte)
    const before = process.memoryUsage()
    const delivery = new DeliveryBody({ ...form, ...forged }, blocksOf(body))
    assert.strictEqual(atOnce(delivery.signedBy(webhooks.gitea, [Redacted.make("key")], 0)).size, 0)
    const after = process.memoryUsage()
    assert.strictEqual(atOnce(delivery.json())?.length, 8 * mebibyte)
    assert.isBelow(after.arrayBuffers - before.arrayBuffers, mebibyte)
    assert.isBelow(after.heapUsed - before.heapUsed, mebibyte)
  })

  it("is not read when a signature is missing or malformed", () => {
    for (const headers of [
      form,
      { ...form, "x-gitea-signature": "x" },
      { ...form, "x-hub-signature-256": "sha256=" }
    ]) {
      const body = flood("+", stepBytes * 4)
      const before = Buffer.from(body)
      assert.deepStrictEqual(stepsOf("gitea", headers, body, ["a", "b"]), { count: 1, checks: 0 })
      assert.isTrue(body.equals(before))
    }
  })

  it("of ordinary size is verified in one step, whatever the number of secrets", () => {
    const secrets = Array.from({ length: 20 }, (_, at) => `secret ${at}`)
    assert.strictEqual(stepsOf("github", forged, Buffer.alloc(10_000), secrets).count, 1)
  })
})

describe("form payload", () => {
  /** Cut at every position, as a sender may cut it. */
  const decoded = (text: string): string | undefined => {
    const results = Array.from({ length: text.length + 1 }, (_, at) => {
      const blocks = [Buffer.from(text.slice(0, at)), Buffer.from(text.slice(at))]
      const json = atOnce(new DeliveryBody(form, blocks).json())
      return json === undefined ? undefined : Buffer.from(json).toString()
    })
    assert.strictEqual(new Set(results).size, 1, JSON.stringify(results))
    return results[0]
  }

  it.each([
    ["payload=%7B%7D", "{}"],
    ["payload=a+b%20c%2Bd", "a b c+d"],
    ["x=1&payload=%C3%A4&y=2", "ä"],
    ["x=1&payload=", ""],
    ["payload=a&payload=b", "a"],
    ["payload=%4", undefined],
    ["payload=%", undefined],
    ["payload=%4g", undefined],
    ["payload=%A", undefined],
    ["payload=%g4", undefined],
    ["xpayload=1", undefined],
    ["payloads=1", undefined],
    ["", undefined]
  ])("%s", (text, expected) => assert.strictEqual(decoded(text), expected))

  it("of any text is that text, in blocks of any length, and its signature holds", () => {
    fc.assert(
      fc.property(
        fc.string({ unit: "binary" }).filter((text) => text.isWellFormed()),
        fc.array(fc.nat({ max: 20 })),
        (text, lengths) => {
          let rest = Buffer.from(`a=b&payload=${encodeURIComponent(text)}&c=d`)
          const blocks = lengths.map((length) => {
            const block = rest.subarray(0, length)
            rest = rest.subarray(length)
            return block
          })
          const signature = createHmac("sha256", "key").update(text).digest("hex")
          const body = new DeliveryBody({ ...form, "x-gitea-signature": signature }, [...blocks, rest])
          assert.isTrue(atOnce(body.signedBy(webhooks.gitea, [Redacted.make("key")], 0)).has("key"))
          assert.strictEqual(Buffer.from(atOnce(body.json()) ?? []).toString(), text)
        }
      )
    )
  })
})

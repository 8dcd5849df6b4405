import { createHash } from "node:crypto"
import { describe, expect, it } from "vitest"
import type { ConfigOperation } from "../../../src/config/revisions/Operations.ts"
import { editHash, plainHash } from "../../../src/config/revisions/RequestHash.ts"
import { sealingKeys } from "../../../src/config/credentials/Sealing.ts"

const [first, second] = ["11".repeat(32), "22".repeat(32)]
const old = sealingKeys({ SVC_CONFIG_SECRETS_KEY: first })
const both = sealingKeys({ SVC_CONFIG_SECRETS_KEY: second, SVC_CONFIG_SECRETS_KEY_PREVIOUS: first })
const recent = sealingKeys({ SVC_CONFIG_SECRETS_KEY: second })
const none = sealingKeys({})

const withSecret = (secret: string): ReadonlyArray<ConfigOperation> => [
  { op: "create", entity: { kind: "triggers", name: "t" }, value: { kind: "gitea", webhook_secret: secret } }
]
const passes = (value: number): ReadonlyArray<ConfigOperation> => [{ op: "set", path: ["review", "max_passes"], value }]
const facts = [3, false]

describe("the hash of a request", () => {
  it("differs by credential, by fact and by operation", () => {
    const { text } = editHash(facts, withSecret("a"), old)
    const compare = (of: ReadonlyArray<boolean | number>, operations: ReadonlyArray<ConfigOperation>) =>
      editHash(of, operations, old).compare(text)
    expect(compare(facts, withSecret("a"))).toBe("same")
    expect(compare(facts, withSecret("b"))).toBe("different")
    expect(compare([4, false], withSecret("a"))).toBe("different")
    expect(compare(facts, passes(1))).toBe("different")
    expect(editHash(facts, passes(1), old).compare(editHash(facts, passes(1), none).text)).toBe("same")
    expect(editHash(facts, passes(1), old).compare(editHash(facts, passes(2), old).text)).toBe("different")
    expect(plainHash(["restore", 1]).compare(plainHash(["restore", 2]).text)).toBe("different")
  })

  it("cannot be computed from a guessed credential without the key", () => {
    const { text } = editHash(facts, withSecret("a"), old)
    const guess = createHash("sha256")
      .update(JSON.stringify([facts, withSecret("a")]))
      .digest("hex")
    expect(text).not.toContain(guess)
    expect(editHash(facts, withSecret("a"), recent).text).not.toBe(text)
  })

  it("is compared after a rotation with the key that made it", () => {
    const { text } = editHash(facts, withSecret("a"), old)
    expect(editHash(facts, withSecret("a"), both).compare(text)).toBe("same")
    expect(editHash(facts, withSecret("b"), both).compare(text)).toBe("different")
    expect(editHash(facts, withSecret("a"), recent).compare(text)).toBe("unknown_key")
    expect(editHash(facts, withSecret("a"), none).compare(text)).toBe("unknown_key")
  })
})

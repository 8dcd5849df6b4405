/** Envelopes of statements: independent implementations verify them, and every changed byte is noticed. */
import { execFileSync } from "node:child_process"
import { createPublicKey, generateKeyPairSync } from "node:crypto"
import { mkdtempSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { Result } from "effect"
import { bundleFromJSON } from "@sigstore/bundle"
import { toSignedEntity, Verifier } from "@sigstore/verify"
import { describe, expect, it } from "vitest"
import { buildStatement } from "../../src/domain/BuildStatement.ts"
import {
  exportKey,
  openStatement,
  readSigningKey,
  readStatementKeys,
  signStatement,
  unwrapStatement
} from "../../src/domain/SignedStatement.ts"
import type { SigningKey } from "../../src/domain/SignedStatement.ts"
import { analysis } from "../outputs/Fixtures.ts"

const pem = (type: "ed25519" | "x25519" = "ed25519"): string => {
  const { privateKey } = type === "ed25519" ? generateKeyPairSync("ed25519") : generateKeyPairSync("x25519")
  return privateKey.export({ type: "pkcs8", format: "pem" }).toString()
}

const makeKey = (): SigningKey => readSigningKey(pem()) ?? expect.fail("no key")

const key = makeKey()
const other = makeKey()
const head = "a".repeat(40)
/** The statement of a verdict that rests on an earlier review. */
const statement =
  buildStatement(
    {
      runId: "run-2",
      change: {
        provider: "github",
        trigger: "host",
        workspace: "shop",
        repo: { fullName: "team/评审" },
        target: { kind: "pull_request", number: 7 },
        baseRef: "main"
      },
      head,
      base: "b".repeat(40),
      configHash: "1".repeat(64),
      analysis: analysis([], {
        inputs: { mergeBase: "b".repeat(40), prompts: "0".repeat(64), rules: [] },
        coverage: { reviewed: [], skipped: [{ path: "src/a.ts", reason: "unchanged" }], lines: 0 },
        carried: [
          {
            run: "run-1",
            head: "c".repeat(40),
            configuration: "2".repeat(64),
            models: ["provider/Prüfung"],
            statement: "3".repeat(64),
            files: 1
          }
        ]
      }),
      review: { unread: "neutral" }
    },
    "2026-01-01T00:00:00.000Z"
  ) ?? expect.fail("no statement")
const envelope = signStatement(statement, key)
const tagOf = (file: string | Uint8Array, keys = [key]): string => {
  const opened = openStatement(typeof file === "string" ? Buffer.from(file) : file, keys)
  return Result.isSuccess(opened) ? "opened" : opened.failure._tag
}

describe("an envelope", () => {
  it("opens with its key, as the statement that was signed, with the review that it rests on", () => {
    expect(JSON.parse(statement).predicate.carried).toMatchObject([
      { run: "run-1", models: { names: ["provider/Prüfung"] } }
    ])
    expect(openStatement(Buffer.from(envelope), [other, key])).toEqual(Result.succeed(statement))
    expect(unwrapStatement(envelope)).toBe(statement)
    expect(signStatement(statement, key)).toBe(envelope)
  })

  it("is refused with other keys, which are named", () => {
    const opened = openStatement(Buffer.from(envelope), [other])
    expect(opened).toEqual(Result.fail({ _tag: "StatementKeyUnknown", keyid: key.keyid, keyids: [other.keyid] }))
  })

  it.each([
    ["formatted again", JSON.stringify(JSON.parse(envelope), undefined, 2), "StatementNotAsWritten"],
    ["without its line break", envelope.trimEnd(), "StatementNotAsWritten"],
    ["with another field", envelope.replace("{", '{"more":1,'), "StatementNotAsWritten"],
    ["with a second signature", envelope.replace("]}", ',{"keyid":"x","sig":"eA=="}]}'), "StatementNotAsWritten"],
    ["of another type", envelope.replace("in-toto+json", "in-toto+text"), "StatementNotAsWritten"],
    ["that is no JSON", "{", "StatementNotEnvelope"],
    ["that is JSON of something else", "[]", "StatementNotEnvelope"],
    ["without signatures", '{"payload":"e30=","payloadType":"x","signatures":[]}', "StatementNotEnvelope"],
    [
      "with the signature of another statement",
      envelope.replace(/"sig":"[^"]+"/, /"sig":"[^"]+"/.exec(signStatement("{}", key))?.[0] ?? ""),
      "StatementSignatureWrong"
    ]
  ])("%s is refused", (_, text, tag) => {
    expect(tagOf(text)).toBe(tag)
  })

  it("is refused after each of 10,000 changes of one byte", () => {
    const bytes = Buffer.from(envelope)
    const accepted: Array<string> = []
    for (let at = 0; at < 10_000; at++) {
      const changed = Buffer.from(bytes)
      const index = at % bytes.length
      const flipped = 1 + ((at * 7 + Math.floor(at / bytes.length)) % 255)
      changed[index] = (bytes[index] ?? 0) ^ flipped
      if (tagOf(changed) === "opened") accepted.push(`${index} ^ ${flipped}`)
    }
    for (let at = 0; at < bytes.length; at++) {
      const less = Buffer.concat([bytes.subarray(0, at), bytes.subarray(at + 1)])
      if (tagOf(less) === "opened") accepted.push(`without ${at}`)
    }
    expect(accepted).toEqual([])
    expect(tagOf(bytes)).toBe("opened")
  })
})

describe("independent implementations", () => {
  it("sigstore accepts it as DSSE, and refuses it with another key", () => {
    const bundle = bundleFromJSON({
      mediaType: "application/vnd.dev.sigstore.bundle.v0.3+json",
      verificationMaterial: { publicKey: { hint: key.keyid }, tlogEntries: [] },
      dsseEnvelope: JSON.parse(envelope)
    })
    const verifierOf = ({ publicKey }: SigningKey) =>
      new Verifier(
        {
          certificateAuthorities: [],
          timestampAuthorities: [],
          tlogs: [],
          ctlogs: [],
          publicKey: () => ({ publicKey, validFor: () => true })
        },
        { tlogThreshold: 0, ctlogThreshold: 0, timestampThreshold: 0 }
      )
    expect(verifierOf(key).verify(toSignedEntity(bundle)).key.equals(key.publicKey)).toBe(true)
    expect(() => verifierOf(other).verify(toSignedEntity(bundle))).toThrow("signature verification failed")
  })

  it("openssl verifies the signature over the bytes that DSSE defines", () => {
    const folder = mkdtempSync(join(tmpdir(), "statement-"))
    const file = (name: string, content: string | Buffer): string => {
      writeFileSync(join(folder, name), content)
      return join(folder, name)
    }
    const { payload, signatures } = JSON.parse(envelope)
    const signed = Buffer.from(payload, "base64")
    const text = Buffer.concat([Buffer.from(`DSSEv1 28 application/vnd.in-toto+json ${signed.length} `), signed])
    const verify = (bytes: Buffer) =>
      execFileSync(
        "openssl",
        "pkeyutl -verify -pubin -rawin -inkey"
          .split(" ")
          .concat(
            file("key.pem", exportKey(key)),
            "-in",
            file("text", bytes),
            "-sigfile",
            file("sig", Buffer.from(signatures[0].sig, "base64"))
          )
      ).toString()
    expect(verify(text)).toContain("Signature Verified Successfully")
    expect(() => verify(Buffer.concat([text, Buffer.from(" ")]))).toThrow("Command failed")
  })
})

describe("keys", () => {
  it("are read as PEM, and as PEM in base64", () => {
    const text = pem()
    const read = readSigningKey(text)
    expect(read?.keyid).toMatch(/^[0-9a-f]{64}$/)
    expect(readSigningKey(Buffer.from(text).toString("base64"))?.keyid).toBe(read?.keyid)
  })

  it.each([["text"], [""], [pem("x25519")], [exportKey(key)]])("%j is no signing key", (text) => {
    expect(readSigningKey(text)).toBeUndefined()
  })

  it("of a file are all read, and nothing else is in it", () => {
    const both = `${exportKey(key)}\n${exportKey(other)}`
    expect(readStatementKeys(both)?.map(({ keyid }) => keyid)).toEqual([key.keyid, other.keyid])
    expect(createPublicKey(exportKey(key)).equals(key.publicKey)).toBe(true)
    for (const text of ["", "text", `${both}text`, `text\n${both}`, pem()])
      expect(readStatementKeys(text)).toBeUndefined()
  })
})

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
import {
  exportKey,
  openStatement,
  readSigningKey,
  readStatementKeys,
  signStatement,
  unwrapStatement
} from "../../src/domain/SignedStatement.ts"
import type { SigningKey } from "../../src/domain/SignedStatement.ts"

const pem = (type: "ed25519" | "x25519" = "ed25519"): string => {
  const { privateKey } = type === "ed25519" ? generateKeyPairSync("ed25519") : generateKeyPairSync("x25519")
  return privateKey.export({ type: "pkcs8", format: "pem" }).toString()
}

const makeKey = (): SigningKey => readSigningKey(pem()) ?? expect.fail("no key")

const key = makeKey()
const other = makeKey()
const statement = JSON.stringify({ head: "a".repeat(40), title: "Prüfung 评审", outcome: "success", list: [1, 2, 3] })
const envelope = signStatement(statement, key)
const tagOf = (file: string | Uint8Array, keys = [key]): string => {
  const opened = openStatement(typeof file === "string" ? Buffer.from(file) : file, keys)
  return Result.isSuccess(opened) ? "opened" : opened.failure._tag
}

describe("an envelope", () => {
  it("opens with its key, as the statement that was signed", () => {
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

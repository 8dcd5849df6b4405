/**
 * Signed statements: an envelope of DSSE with one Ed25519 signature over an in-toto statement. A statement and a key have exactly one
 * envelope, as bytes: the signature is deterministic, and the JSON has one form. So any changed byte of a file is noticed. Pure.
 */
import { createHash, createPrivateKey, createPublicKey, sign, verify } from "node:crypto"
import type { KeyObject } from "node:crypto"
import { Result } from "effect"
import type { Reason } from "./Reason.ts"

const payloadType = "application/vnd.in-toto+json"

/** A key that verifies statements. */
interface StatementKey {
  /** SHA-256 of the public key (DER, SPKI), in hex. */
  readonly keyid: string
  readonly publicKey: KeyObject
}

/** A key that signs statements. */
export interface SigningKey extends StatementKey {
  readonly privateKey: KeyObject
}

const toKey = (publicKey: KeyObject): StatementKey => ({
  keyid: createHash("sha256")
    .update(publicKey.export({ type: "spki", format: "der" }))
    .digest("hex"),
  publicKey
})

const isEd25519 = ({ asymmetricKeyType }: KeyObject): boolean => asymmetricKeyType === "ed25519"

/** Parses a private key: PEM, or PEM in base64. Undefined if it is not an Ed25519 key. Nothing of the text is in a result. */
export const readSigningKey = (text: string): SigningKey | undefined => {
  try {
    const pem = text.includes("-----BEGIN") ? text : Buffer.from(text, "base64").toString("utf8")
    const privateKey = createPrivateKey(pem)
    return isEd25519(privateKey) ? { ...toKey(createPublicKey(privateKey)), privateKey } : undefined
  } catch {
    return undefined
  }
}

/** Returns the public key as PEM. */
export const exportKey = ({ publicKey }: StatementKey): string => {
  const pem = publicKey.export({ type: "spki", format: "pem" })
  return typeof pem === "string" ? pem : pem.toString("utf8")
}

const endOfKey = "-----END PUBLIC KEY-----"

/** Parses the public keys of a PEM file. Undefined if it holds none, or anything else than public Ed25519 keys. */
export const readStatementKeys = (text: string): ReadonlyArray<StatementKey> | undefined => {
  try {
    const blocks = text.split(endOfKey)
    const rest = blocks.pop() ?? ""
    const keys = blocks.map((block) => createPublicKey(`${block.trim()}\n${endOfKey}\n`))
    const isWhole = blocks.every((block) => block.trim().startsWith("-----BEGIN PUBLIC KEY-----"))
    return rest.trim() === "" && keys.length > 0 && isWhole && keys.every(isEd25519) ? keys.map(toKey) : undefined
  } catch {
    return undefined
  }
}

/** Returns the bytes that DSSE signs. */
const encodeForSignature = (payload: Buffer): Buffer =>
  Buffer.concat([Buffer.from(`DSSEv1 ${payloadType.length} ${payloadType} ${payload.length} `), payload])

const write = (payload: Buffer, keyid: string, signature: Buffer): string =>
  `${JSON.stringify({
    payload: payload.toString("base64"),
    payloadType,
    signatures: [{ keyid, sig: signature.toString("base64") }]
  })}\n`

/** Returns the envelope of a statement. */
export const signStatement = (statement: string, { keyid, privateKey }: SigningKey): string => {
  const payload = Buffer.from(statement, "utf8")
  return write(payload, keyid, sign(null, encodeForSignature(payload), privateKey))
}

interface Envelope {
  readonly payload: Buffer
  readonly keyid: string
  readonly signature: Buffer
}

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value)

/** Returns the parts of an envelope of this service; undefined for any other text. */
const parse = (text: string): Envelope | undefined => {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    return undefined
  }
  if (!isRecord(value) || typeof value["payload"] !== "string" || !Array.isArray(value["signatures"])) return undefined
  const [signature]: ReadonlyArray<unknown> = value["signatures"]
  if (!isRecord(signature) || typeof signature["keyid"] !== "string" || typeof signature["sig"] !== "string")
    return undefined
  return {
    payload: Buffer.from(value["payload"], "base64"),
    keyid: signature["keyid"],
    signature: Buffer.from(signature["sig"], "base64")
  }
}

/**
 * Returns the statement in an envelope that one of the keys signed. The file has to be byte by byte what the service writes, so that
 * whitespace, other spellings of base64 and fields that no signature covers are refused as well.
 */
export const openStatement = (file: Uint8Array, keys: ReadonlyArray<StatementKey>): Result.Result<string, Reason> => {
  const envelope = parse(Buffer.from(file).toString("utf8"))
  if (envelope === undefined) return Result.fail({ _tag: "StatementNotEnvelope" })
  const { keyid, payload, signature } = envelope
  if (!Buffer.from(write(payload, keyid, signature), "utf8").equals(file))
    return Result.fail({ _tag: "StatementNotAsWritten" })
  const key = keys.find((one) => one.keyid === keyid)
  if (key === undefined)
    return Result.fail({ _tag: "StatementKeyUnknown", keyid, keyids: keys.map((one) => one.keyid) })
  return verify(null, encodeForSignature(payload), key.publicKey, signature)
    ? Result.succeed(payload.toString("utf8"))
    : Result.fail({ _tag: "StatementSignatureWrong" })
}

/** Returns the statement in an envelope without verifying it, for a caller that trusts its storage. Undefined for another text. */
export const unwrapStatement = (text: string): string | undefined => parse(text)?.payload.toString("utf8")

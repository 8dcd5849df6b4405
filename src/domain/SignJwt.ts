/** Signs JSON web tokens with RS256, as required from applications by GitHub and Google. Pure. */
import { sign } from "node:crypto"
import type { KeyLike } from "node:crypto"

const encode = (part: object): string => Buffer.from(JSON.stringify(part)).toString("base64url")

/** Throws if the key is not an RSA private key. Times in `claims` are in seconds. */
export const signJwt = (claims: object, key: KeyLike, header: { readonly kid?: string } = {}): string => {
  const signed = `${encode({ alg: "RS256", typ: "JWT", ...header })}.${encode(claims)}`
  return `${signed}.${sign("sha256", Buffer.from(signed), key).toString("base64url")}`
}

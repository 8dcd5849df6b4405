/**
 * Identifies a request by a hash, so that one operation id is not used for two requests. A hash of credentials is keyed with the sealing key,
 * because a plain hash could be used to guess them; it names its key, because a repeated request may arrive after a rotation. Pure.
 */
import { createHmac } from "node:crypto"
import { Redacted, Result } from "effect"
import type { SealingKey, SealingKeys, SealingProblem } from "../credentials/Sealing.ts"
import { maskOperations } from "./OperationSecrets.ts"
import type { ConfigOperation } from "./Operations.ts"
import { hashText } from "./SealDocument.ts"

export interface RequestHash {
  /** The text that the store records under the operation id. */
  readonly text: string
  /** Compares with what the store has recorded. `unknown_key`: this node lacks the key of the recorded hash. */
  readonly compare: (recorded: string) => "different" | "same" | "unknown_key"
}

/** Hash of a request without credentials. */
export const plainHash = (request: unknown): RequestHash => {
  const text = hashText(JSON.stringify(request))
  return { text, compare: (recorded) => (recorded === text ? "same" : "different") }
}

const keyedHash = ({ bytes, kid }: SealingKey, request: string): string =>
  `${kid}.${createHmac("sha256", Redacted.value(bytes)).update(`request\n${request}`).digest("hex")}`

const keyed = /^([0-9a-f]{8})\./

/** Hash of a request with these operations. Without a key it is that of the masked operations: nothing that contains credentials can be published. */
export const editHash = (
  facts: ReadonlyArray<boolean | number>,
  operations: ReadonlyArray<ConfigOperation>,
  keys: Result.Result<SealingKeys, SealingProblem>
): RequestHash => {
  const [whole, masked] = [JSON.stringify([facts, operations]), JSON.stringify([facts, maskOperations(operations)])]
  const known = Result.isSuccess(keys) ? keys.success : undefined
  const plain = hashText(masked)
  if (whole === masked) return plainHash([facts, operations])
  return {
    text: known?.current === undefined ? plain : keyedHash(known.current, whole),
    compare: (recorded) => {
      const kid = keyed.exec(recorded)?.[1]
      if (kid === undefined) return recorded === plain ? "same" : "different"
      const key = known?.all.find((one) => one.kid === kid)
      if (key === undefined) return "unknown_key"
      return recorded === keyedHash(key, whole) ? "same" : "different"
    }
  }
}

/** Digests of the rules of a repository, which a statement names and `aicr verify` compares. Pure. */
import { createHash } from "node:crypto"

/** Returns the SHA-256 of a text in UTF-8, in hex. */
export const digestText = (text: string): string => createHash("sha256").update(text, "utf8").digest("hex")

/** Returns the digest of names in a folder, in any order. */
export const digestNames = (names: ReadonlyArray<string>): string => digestText(names.toSorted().join("\n"))

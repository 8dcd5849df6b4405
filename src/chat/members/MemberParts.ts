/** Messages between the event loop and the thread that reads a member file: the loop requests one part after the other. Pure. */
import type { Reason } from "../../domain/Reason.ts"
import type { ChatMember, Directory } from "./Member.ts"
import type { MemberFileReading } from "./MemberFile.ts"

export interface MemberThreadData {
  readonly text: string
  readonly compileCache: string | undefined
}

export type MemberPart =
  | { readonly _tag: "Refused"; readonly issues: ReadonlyArray<Reason> }
  | { readonly _tag: "Directory"; readonly id: string; readonly scope: Directory["scope"] }
  /** Members of the directory before it. */
  | { readonly _tag: "Members"; readonly members: ReadonlyArray<ChatMember> }
  | { readonly _tag: "End" }

/** Members of a part: receiving it takes a few milliseconds. */
const partLength = 200

export function* toParts(reading: MemberFileReading): Generator<MemberPart, void> {
  if (reading._tag === "Refused") return yield reading
  for (const [id, { members, scope }] of reading.directories) {
    yield { _tag: "Directory", id, scope }
    for (let start = 0; start < members.length; start += partLength)
      yield { _tag: "Members", members: members.slice(start, start + partLength) }
  }
  yield { _tag: "End" }
}

/** Collects parts. */
export class CollectedParts {
  readonly #directories = new Map<string, Directory>()
  #members: Array<ChatMember> = []

  /** Returns the content after the last part. */
  add(part: MemberPart): MemberFileReading | undefined {
    switch (part._tag) {
      case "Refused":
        return part
      case "Directory":
        this.#members = []
        this.#directories.set(part.id, { scope: part.scope, members: this.#members })
        return undefined
      case "Members":
        this.#members.push(...part.members)
        return undefined
      case "End":
        return { _tag: "Read", directories: this.#directories }
    }
  }
}

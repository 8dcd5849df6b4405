/** Determines which parts of the effective configuration an edit changes. Pure. */
import { diff } from "../Diff.ts"
import type { Snapshot, Workspace } from "../Snapshot.ts"
import type { BlastRadius } from "./ConfigEditor.ts"

export const noBlast: BlastRadius = {
  workspaces: [],
  triggers: [],
  channels: [],
  routes: [],
  bindings: [],
  snapshot: "",
  pinnedSnapshots: 0
}

export const blastRadius = (before: Snapshot, after: Snapshot, pinned: ReadonlySet<string>): BlastRadius => {
  const [old, next] = [before.document, after.document]
  const [oldRules, rules] = [old.outputs.routes.rules, next.outputs.routes.rules]
  const positions = Array.from({ length: Math.max(oldRules.length, rules.length) }, (_, index) => index)
  return {
    workspaces: changedKeys(mapValues(before.workspaces, effective), mapValues(after.workspaces, effective)),
    triggers: changedKeys(byName(old.triggers), byName(next.triggers)),
    channels: changedKeys(byName(old.outputs.channels), byName(next.outputs.channels)),
    routes: positions.filter((index) => differs(oldRules[index], rules[index])),
    bindings: changedKeys(
      new Map(Object.entries(old.im.command_bindings ?? {})),
      new Map(Object.entries(next.im.command_bindings ?? {}))
    ),
    snapshot: after.hash,
    pinnedSnapshots: [...pinned].filter((hash) => hash !== after.hash).length
  }
}

/** Values of a workspace after all layers. */
const effective = (workspace: Workspace): unknown => {
  const { snapshot: _, workPath: __, id: ___, ...values } = workspace
  return values
}

const mapValues = <A>(source: ReadonlyMap<string, A>, value: (item: A) => unknown): ReadonlyMap<string, unknown> =>
  new Map([...source].map(([key, item]) => [key, value(item)]))

const byName = (items: ReadonlyArray<{ readonly name: string }>): ReadonlyMap<string, unknown> =>
  new Map(items.map((item) => [item.name, item]))

const changedKeys = (
  before: ReadonlyMap<string, unknown>,
  after: ReadonlyMap<string, unknown>
): ReadonlyArray<string> =>
  [...new Set([...before.keys(), ...after.keys()])]
    .filter((key) => before.has(key) !== after.has(key) || differs(before.get(key), after.get(key)))
    .toSorted()

const differs = (left: unknown, right: unknown): boolean => diff(left, right).length > 0

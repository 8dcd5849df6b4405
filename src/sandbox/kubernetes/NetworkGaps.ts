/** Decides whether the network policies of a namespace close the network of its sandboxes. Policies add up: one that permits is enough. Pure. */
import { Schema } from "effect"
import type { Reason } from "../../domain/Reason.ts"

const Expression = Schema.Struct({
  key: Schema.String,
  operator: Schema.String,
  values: Schema.optional(Schema.Array(Schema.String))
})
const Selector = Schema.Struct({
  matchLabels: Schema.optional(Schema.Record(Schema.String, Schema.String)),
  matchExpressions: Schema.optional(Schema.Array(Expression))
})
const Rules = Schema.optional(Schema.NullOr(Schema.Array(Schema.Unknown)))

const NetworkPolicy = Schema.Struct({
  metadata: Schema.Struct({ name: Schema.String }),
  spec: Schema.Struct({
    podSelector: Selector,
    policyTypes: Schema.optional(Schema.Array(Schema.String)),
    ingress: Rules,
    egress: Rules
  })
})
export const NetworkPolicies = Schema.Struct({ items: Schema.Array(NetworkPolicy) })
export type NetworkPolicies = typeof NetworkPolicies.Type
type Labels = Readonly<Record<string, string>>

const matches = (labels: Labels, { key, operator, values = [] }: typeof Expression.Type): boolean => {
  const value = labels[key]
  const isListed = value !== undefined && values.includes(value)
  // An unknown operator is treated as a match, so that what its policy permits counts.
  return operator === "In"
    ? isListed
    : operator === "NotIn"
      ? !isListed
      : operator === "DoesNotExist"
        ? value === undefined
        : operator !== "Exists" || value !== undefined
}

const selects = ({ matchExpressions = [], matchLabels = {} }: typeof Selector.Type, labels: Labels): boolean =>
  Object.entries(matchLabels).every(([key, value]) => labels[key] === value) &&
  matchExpressions.every((expression) => matches(labels, expression))

const directions = [
  ["Ingress", "ingress"],
  ["Egress", "egress"]
] as const

/** Returns why pods with these labels have a network; undefined if every connection is refused. */
export const findNetworkGap = (policies: NetworkPolicies["items"], labels: Labels): Reason | undefined => {
  const applied = policies.filter(({ spec }) => selects(spec.podSelector, labels))
  for (const [type, field] of directions) {
    const permitting = applied.find(({ spec }) => (spec[field] ?? []).length > 0)
    if (permitting !== undefined) return { _tag: "PolicyPermits", policy: permitting.metadata.name, direction: field }
    if (!applied.some(({ spec: { policyTypes = ["Ingress"] } }) => policyTypes.includes(type)))
      return { _tag: "PolicyMissing", direction: field }
  }
  return undefined
}

/** Whether network policies close the network of pods. */
import { Schema } from "effect"
import { verbatimReason } from "../../../src/domain/Reason.ts"
import { inEnglish } from "../../../src/text/en.ts"
import { expect, it } from "vitest"
import { findNetworkGap, NetworkPolicies } from "../../../src/sandbox/kubernetes/NetworkGaps.ts"

const labels = { app: "aicr-sandbox" }
const both = ["Ingress", "Egress"]
const policy = (name: string, spec: object) => ({ metadata: { name }, spec: { podSelector: {}, ...spec } })
const closed = policy("closed", { policyTypes: both })
const expression = (operator: string, values?: ReadonlyArray<string>) => ({
  policyTypes: both,
  podSelector: { matchExpressions: [{ key: "app", operator, values }] }
})
const open = { policyTypes: ["Egress"], egress: [{}] }

it.each([
  ["one for both directions", [closed], undefined],
  [
    "one per direction",
    [policy("in", { policyTypes: ["Ingress"] }), policy("out", { policyTypes: ["Egress"], egress: [] })],
    undefined
  ],
  ["rules that are null", [policy("closed", { policyTypes: both, ingress: null, egress: null })], undefined],
  ["one for the label", [policy("closed", { policyTypes: both, podSelector: { matchLabels: labels } })], undefined],
  [
    "another for other pods",
    [closed, policy("open", { ...open, podSelector: { matchLabels: { app: "x" } } })],
    undefined
  ],
  ["In", [policy("closed", expression("In", ["x", "aicr-sandbox"]))], undefined],
  ["Exists", [policy("closed", expression("Exists"))], undefined],
  ["NotIn of others", [policy("closed", expression("NotIn", ["x"]))], undefined],
  ["none", [], "no NetworkPolicy refuses connections (ingress)"],
  ["one without types", [policy("in", {})], "no NetworkPolicy refuses connections (egress)"],
  [
    "one for other pods",
    [policy("x", { policyTypes: both, podSelector: { matchLabels: { app: "x" } } })],
    "no NetworkPolicy"
  ],
  ["NotIn of this", [policy("closed", expression("NotIn", ["aicr-sandbox"]))], "no NetworkPolicy"],
  ["DoesNotExist", [policy("closed", expression("DoesNotExist"))], "no NetworkPolicy"],
  [
    "an additional one that permits",
    [closed, policy("names", open)],
    "NetworkPolicy names permits connections (egress)"
  ],
  [
    "one that permits connections to it",
    [closed, policy("web", { ingress: [{}] })],
    "NetworkPolicy web permits connections (ingress)"
  ],
  [
    "an unknown operator that permits",
    [closed, policy("odd", { ...expression("Near"), egress: [{}] })],
    "NetworkPolicy odd permits"
  ]
])("with %s", (_, items, gap) => {
  const policies = Schema.decodeUnknownSync(NetworkPolicies)({ items })
  expect(inEnglish(findNetworkGap(policies.items, labels) ?? verbatimReason("closed"))).toContain(gap ?? "closed")
})

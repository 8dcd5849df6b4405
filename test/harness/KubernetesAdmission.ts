/** Finds what a cluster refuses in a pod: the rules of the Pod Security profile `restricted`, and forms of names. */
import type { Pod } from "kubernetes-types/core/v1.d.ts"

const volumes = new Set([
  "configMap",
  "downwardAPI",
  "emptyDir",
  "ephemeral",
  "persistentVolumeClaim",
  "projected",
  "secret"
])
const qualified = /^(?:[a-z0-9](?:[-a-z0-9.]*[a-z0-9])?\/)?[A-Za-z0-9](?:[-\w.]{0,61}[A-Za-z0-9])?$/
const labelValue = /^(?:[A-Za-z0-9](?:[-\w.]{0,61}[A-Za-z0-9])?)?$/
const domainName = /^[a-z0-9](?:[-a-z0-9]{0,61}[a-z0-9])?$/

export const findPodProblems = ({ metadata, spec }: Pod): ReadonlyArray<string> => {
  const problems: Array<string> = []
  const check = (isFine: boolean, problem: string) => {
    if (!isFine) problems.push(problem)
  }
  check(domainName.test(metadata?.name ?? ""), "metadata.name")
  for (const [key, value] of Object.entries(metadata?.labels ?? {}))
    check(qualified.test(key) && labelValue.test(value), `label ${key}`)
  const annotations = Object.entries(metadata?.annotations ?? {})
  for (const [key] of annotations) check(qualified.test(key), `annotation ${key}`)
  check(
    annotations.reduce((sum, [key, value]) => sum + key.length + value.length, 0) < 262_144,
    "annotations are too long"
  )
  check(spec?.hostNetwork !== true && spec?.hostPID !== true && spec?.hostIPC !== true, "host namespaces")
  check(spec?.securityContext?.seccompProfile?.type === "RuntimeDefault", "seccompProfile")
  for (const { name, ...source } of spec?.volumes ?? [])
    check(
      Object.keys(source).every((kind) => volumes.has(kind)),
      `volume ${name}`
    )
  for (const { name, securityContext: own, volumeMounts = [] } of spec?.containers ?? []) {
    check(own?.allowPrivilegeEscalation === false, `${name}: allowPrivilegeEscalation`)
    check(own?.runAsNonRoot === true && (own.runAsUser ?? 0) > 0, `${name}: root`)
    check(own?.privileged !== true, `${name}: privileged`)
    check(
      own?.capabilities?.drop?.includes("ALL") === true && own.capabilities.add === undefined,
      `${name}: capabilities`
    )
    for (const mount of volumeMounts)
      check(
        spec?.volumes?.some((volume) => volume.name === mount.name) === true,
        `${name}: volume ${mount.name} is missing`
      )
  }
  return problems
}

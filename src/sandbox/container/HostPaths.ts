/**
 * Paths of a service that runs in a container itself and starts its sandboxes next to it, as the engine sees them: the engine mounts
 * folders of the host, which have other paths inside of the service's container.
 */
import { join, relative } from "node:path"

export interface ContainerMount {
  /** Path on the host. */
  readonly source: string
  /** Path in the container of the service. */
  readonly destination: string
}

/** Returns the path on the host, or undefined for a path that is on no mount and so exists in the service's container only. */
export const toHostPath = (mounts: ReadonlyArray<ContainerMount>, path: string): string | undefined => {
  const [mount] = mounts
    .filter(
      ({ destination }) =>
        path === destination || path.startsWith(destination.endsWith("/") ? destination : `${destination}/`)
    )
    .toSorted((a, b) => b.destination.length - a.destination.length)
  return mount === undefined ? undefined : join(mount.source, relative(mount.destination, path))
}

/** Returns the id of the container in which the service runs, from its mounts in the form of `/proc/self/mountinfo`. */
export const findOwnContainer = (mountInfo: string): string | undefined =>
  /containers\/([0-9a-f]{64})\/(?:userdata\/)?(?:hostname|resolv\.conf|hosts) \/etc\//.exec(mountInfo)?.[1]

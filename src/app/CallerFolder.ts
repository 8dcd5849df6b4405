/**
 * Folder of the caller. `npm run` starts a script in the folder of its package, and names the caller's folder in INIT_CWD: paths in arguments
 * are relative to that one. Only for this package's own scripts: a script of another package runs in a folder that its author chose.
 */

/** Returns the folder to change to; undefined to stay. `root` is the folder of this package. */
export const findCallerFolder = (
  env: Readonly<Record<string, string | undefined>>,
  root: string
): string | undefined => {
  const { INIT_CWD: caller, npm_package_json: manifest } = env
  return caller !== undefined && caller !== "" && manifest === `${root}/package.json` ? caller : undefined
}

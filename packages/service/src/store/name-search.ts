/** Returns a pattern of `like` for texts that contain `search`. */
export const containing = (search: string): string => `%${search.replaceAll(/[\\%_]/g, (each) => `\\${each}`)}%`;

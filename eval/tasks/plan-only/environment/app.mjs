export const readAll = () => "read";
export const writeAll = () => "write";

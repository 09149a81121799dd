export const money = (amount) => `EUR ${amount.toFixed(2)}`;

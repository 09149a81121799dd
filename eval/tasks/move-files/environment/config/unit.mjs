export const unit = 2;

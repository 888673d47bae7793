mod concern;
mod post;
